// Command yardstick is what a hook with a log cannot do without: it parses an
// event, appends it to a file and syncs it. hooktrail is measured against it.
package main

import (
	"encoding/json"
	"io"
	"os"
)

func main() {
	raw, err := io.ReadAll(os.Stdin)
	check(err)
	var event map[string]any
	check(json.Unmarshal(raw, &event))
	line, err := json.Marshal(event)
	check(err)
	f, err := os.OpenFile(os.Args[1], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	check(err)
	_, err = f.Write(append(line, '\n'))
	check(err)
	check(f.Sync())
	check(f.Close())
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

package guard

import (
	"strconv"
	"strings"
)

// maxShown bounds what is shown of a name, in bytes.
const maxShown = 80

// Shown is how a name from a call stands in a message. The message goes to the
// model, and the name may come from whoever wrote what the model has read: what is
// no plain word is quoted and cut, so that it cannot pass for a sentence of ours.
func Shown(name string) string {
	const plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.:/@"
	if name != "" && len(name) <= maxShown && strings.Trim(name, plain) == "" {
		return name
	}
	if len(name) > maxShown {
		name = strings.ToValidUTF8(name[:maxShown], "") + "…"
	}
	return strconv.Quote(name)
}

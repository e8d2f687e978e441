// Package schema admits values or refuses them: it judges decoded JSON against
// the schemas that the program embeds. It is the only importer of the schema
// library.
//
// A schema is compiled when it is first asked for, so that an invocation pays
// for the one or two that it needs. Whatever goes wrong in here, a panic of the
// library included, is a violation: the value is not admitted.
package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sort"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"hooktrail/schemas"
)

// A Violation says where a value departs from its schema, and what was
// expected there.
type Violation struct {
	Path    string // JSON Pointer into the value; "" is the whole
	Message string
}

func (v Violation) String() string {
	if v.Path == "" {
		return v.Message
	}
	return v.Path + ": " + v.Message
}

// MaxViolations is how many violations Validate returns at most.
const MaxViolations = 10

const base = "https://hooktrail.dev/schemas/"

var (
	mu       sync.Mutex
	compiled = map[string]*jsonschema.Schema{}
)

// Validate judges v, as package event decodes it, against the named schema,
// such as "callback-result" or "events/PreToolUse". Nil means admitted. Several
// goroutines may call it at once.
func Validate(name string, v any) (found []Violation) {
	defer func() {
		if p := recover(); p != nil {
			found = []Violation{{Message: fmt.Sprintf("the schema %s could not be applied: %v", name, p)}}
		}
	}()
	s, err := get(name)
	if err != nil {
		return []Violation{{Message: err.Error()}}
	}
	err = s.Validate(v)
	if err == nil {
		return nil
	}
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		return []Violation{{Message: err.Error()}}
	}
	return leaves(ve)
}

// Has tells whether there is a schema of that name.
func Has(name string) bool {
	_, err := fs.Stat(schemas.FS, name+".schema.json")
	return err == nil
}

// Names returns the names of all schemas, sorted.
func Names() []string {
	var names []string
	_ = fs.WalkDir(schemas.FS, ".", func(p string, _ fs.DirEntry, err error) error {
		if n, ok := strings.CutSuffix(p, ".schema.json"); ok && err == nil {
			names = append(names, n)
		}
		return nil
	})
	sort.Strings(names)
	return names
}

// Text returns the schema's text.
func Text(name string) ([]byte, error) {
	b, err := schemas.FS.ReadFile(name + ".schema.json")
	if err != nil {
		return nil, fmt.Errorf("no schema %q", name)
	}
	return b, nil
}

func get(name string) (*jsonschema.Schema, error) {
	mu.Lock()
	defer mu.Unlock()
	if s, ok := compiled[name]; ok {
		return s, nil
	}
	text, err := Text(name)
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("schemas are embedded; %s is not fetched", url)
	}
	if err := c.AddResource(base+name+".schema.json", bytes.NewReader(text)); err != nil {
		return nil, fmt.Errorf("read schema %s: %w", name, err)
	}
	s, err := c.Compile(base + name + ".schema.json")
	if err != nil {
		return nil, fmt.Errorf("compile schema %s: %w", name, err)
	}
	compiled[name] = s
	return s, nil
}

// worded is a fault in words for people. Of a pattern the library can only say
// that it does not match.
func worded(e *jsonschema.ValidationError) string {
	if strings.HasSuffix(e.AbsoluteKeywordLocation, "#/$defs/duration/pattern") {
		return "must be a time with its unit, such as 150s, 2m or 50ms"
	}
	return e.Message
}

// leaves flattens the library's tree to the faults a person can mend, in the
// order of their paths.
func leaves(e *jsonschema.ValidationError) []Violation {
	var all []Violation
	seen := map[Violation]bool{}
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 {
			v := Violation{Path: e.InstanceLocation, Message: worded(e)}
			if !seen[v] {
				seen[v] = true
				all = append(all, v)
			}
			return
		}
		for _, c := range e.Causes {
			walk(c)
		}
	}
	walk(e)
	sort.SliceStable(all, func(i, j int) bool { return all[i].Path < all[j].Path })
	if len(all) > MaxViolations {
		all = all[:MaxViolations]
	}
	return all
}

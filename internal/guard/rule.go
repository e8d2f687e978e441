package guard

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"hooktrail/internal/config"
)

// The classes of calls.
const (
	classReadOnly = "readOnly"
	classMutating = "mutating"
	classCreates  = "creates" // makes a machine: nothing to go back to
	classDeny     = "deny"
)

type rule struct {
	tools   []string
	class   string
	message string
	when    *when
	vms     []vmRule
}

type when struct {
	path    string
	matches *regexp.Regexp
	equals  *string
	kind    gjson.Type // of equals
	exists  *bool

	// strict makes it hard to hold: the rule lets calls through. Every value must
	// meet the condition then, not one of them, and be of the type that is written
	// there; a server may take the string "false" for true.
	strict bool
}

func compile(c config.Rule) (rule, error) {
	r := rule{tools: c.Tools, class: c.Class, message: c.Message}
	switch c.Class {
	case classReadOnly, classMutating, classCreates, classDeny:
	default:
		return rule{}, fmt.Errorf("class %q is none of readOnly, mutating, creates, deny", c.Class)
	}
	if w := c.When; w != nil {
		r.when = &when{path: w.Path, exists: w.Exists, strict: c.Class == classReadOnly || c.Class == classCreates}
		if w.Matches != "" {
			re, err := regexp.Compile(w.Matches)
			if err != nil {
				return rule{}, fmt.Errorf("when.matches: %w", err)
			}
			r.when.matches = re
		}
		if w.Equals != nil {
			s := literal(w.Equals)
			r.when.equals, r.when.kind = &s, kindOf(w.Equals)
		}
		if w.Matches == "" && w.Equals == nil && w.Exists == nil {
			return rule{}, fmt.Errorf("when needs one of matches, equals, exists")
		}
	}
	for _, v := range c.VM {
		x, err := compileVM(v)
		if err != nil {
			return rule{}, err
		}
		r.vms = append(r.vms, x)
	}
	return r, nil
}

// literal writes a JSON scalar as gjson's String does, so that the two can be
// compared.
func literal(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}

// twin finds a second spelling of an argument that names machines or their site.
func (r *rule) twin(input []byte) string {
	for _, v := range r.vms {
		if why := twin(input, v.full); why != "" {
			return why
		}
		if why := twin(input, v.sitePath); why != "" {
			return why
		}
	}
	return ""
}

// kindOf is the type by which gjson knows a JSON scalar.
func kindOf(v any) gjson.Type {
	switch v := v.(type) {
	case string:
		return gjson.String
	case bool:
		if v {
			return gjson.True
		}
		return gjson.False
	default:
		return gjson.Number
	}
}

// holds tells whether the condition is met. A nil condition holds.
func (w *when) holds(input []byte) bool {
	if w == nil {
		return true
	}
	if w.exists != nil && !w.thereAsSaid(input) {
		return false
	}
	if w.matches == nil && w.equals == nil {
		return true
	}
	if w.strict {
		return w.holdsForAll(input)
	}
	v := gjson.GetBytes(input, w.path)
	if v.IsArray() {
		for _, x := range v.Array() {
			if w.value(x) {
				return true
			}
		}
		return false
	}
	return w.value(v)
}

// thereAsSaid tells whether the argument is there, or is not, as the condition
// says: in every element of the lists on the path where that lets the call through,
// else in one.
func (w *when) thereAsSaid(input []byte) bool {
	v, path := gjson.ParseBytes(input), splitLists(w.path)
	switch {
	case w.strict == *w.exists: // there in all of them, or not in all of them
		_, why := walk(v, path)
		return (why == "") == *w.exists
	case w.strict:
		return nowhere(v, path)
	default:
		return gjson.GetBytes(input, w.path).Exists()
	}
}

// nowhere tells whether no element of the lists on the path has what it names.
// What is no list where the path has one is not looked into, and may have it.
func nowhere(v gjson.Result, path []string) bool {
	if path[0] != "" {
		v = v.Get(path[0])
	}
	if !v.Exists() || len(path) == 1 {
		return !v.Exists()
	}
	return v.IsArray() && !slices.ContainsFunc(v.Array(), func(e gjson.Result) bool { return !nowhere(e, path[1:]) })
}

// holdsForAll tells whether there are values, and all meet the condition. The
// lists on the path are walked, since gjson leaves out elements without the member.
func (w *when) holdsForAll(input []byte) bool {
	found, why := walk(gjson.ParseBytes(input), splitLists(w.path))
	if why != "" {
		return false
	}
	n := 0
	for _, v := range found {
		all := []gjson.Result{v}
		if v.IsArray() {
			all = v.Array()
		}
		for _, x := range all {
			n++
			if !w.value(x) || w.equals != nil && x.Type != w.kind || w.matches != nil && x.Type == gjson.JSON {
				return false
			}
		}
	}
	return n > 0
}

func (w *when) value(v gjson.Result) bool {
	if !v.Exists() {
		return false
	}
	s := v.String()
	return (w.matches == nil || w.matches.MatchString(s)) && (w.equals == nil || *w.equals == s)
}

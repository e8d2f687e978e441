package audit

import "strings"

// safeValue tells whether v is no secret but a word of a language or a
// reference to one.
func safeValue(v string) bool {
	if strings.HasPrefix(v, mask) && len(v) == len(mask) {
		return true
	}
	if len(v) > maxKey {
		return false
	}
	switch strings.ToLower(v) {
	case "", "null", "nil", "none", "true", "false", "undefined", "string", "str", "bool", "boolean", "number",
		"int", "integer", "object", "any", "required", "optional", "include", "omit", "same-origin", "inherit", "bytes",
		"yes", "no", "-":
		return true
	}
	return wholeReference(v)
}

// wholeReference tells whether v is nothing but $NAME, ${NAME}, $(command),
// %NAME%, {{ name }}, <name> or process.env.NAME.
func wholeReference(v string) bool {
	upper := func(s string) bool { return s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == "" }
	inner := func(pre, post string) bool {
		return len(v) > len(pre)+len(post) && strings.HasPrefix(v, pre) && strings.HasSuffix(v, post) &&
			!strings.ContainsAny(v[len(pre):len(v)-len(post)], "{}<>$%\"'")
	}
	name := func(s string) bool { return s != "" && run(s, 0, isKeyByte) == len(s) }
	switch {
	case strings.HasPrefix(v, "$env:"):
		return name(v[5:])
	case strings.HasPrefix(v, "process.env."), strings.HasPrefix(v, "os.environ"):
		return true
	case strings.HasPrefix(v, "$"):
		return upper(v[1:]) || inner("${", "}") && name(v[2:len(v)-1]) || inner("${{", "}}") || inner("$(", ")")
	}
	return inner("%", "%") && upper(v[1:len(v)-1]) || inner("{{", "}}") || inner("<", ">")
}

// reference tells whether a value without quotes begins with a reference that
// its end (a bracket) belongs to: $(cat f), ${X}, {{ x }}, <x>.
func reference(s string) bool {
	for _, p := range []string{"$(", "${", "{{", "<"} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

package guard

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"

	"hooktrail/internal/config"
)

// maxRef and maxVMs bound what one call can name.
const (
	maxRef = 256 // bytes
	maxVMs = 64
)

type vmRule struct {
	full     string   // the path as it is written
	path     []string // the parts between ".#."
	kind     Kind
	match    *regexp.Regexp
	alias    map[string]config.Strings
	fixed    []string
	sitePath string
}

func compileVM(c config.VM) (vmRule, error) {
	v := vmRule{full: c.Path, kind: Kind(c.Kind), alias: c.Alias, fixed: c.Fixed, sitePath: c.SitePath}
	if (c.Path == "") == (len(c.Fixed) == 0) {
		return vmRule{}, fmt.Errorf("vm needs either path or fixed")
	}
	if c.Path != "" {
		v.path = splitLists(c.Path)
	}
	if c.Match != "" {
		re, err := regexp.Compile(c.Match)
		if err != nil {
			return vmRule{}, fmt.Errorf("vm.match: %w", err)
		}
		if re.NumSubexp() < 1 {
			return vmRule{}, fmt.Errorf("vm.match %q has no group to name the machine", c.Match)
		}
		v.match = re
	}
	return v, nil
}

// splitLists splits a path at "#", gjson's word for each element of a list.
// gjson leaves out the elements that lack the member; a machine that is left out
// would be changed without a way back, so the lists are walked here.
func splitLists(path string) []string {
	parts := strings.Split("."+path+".", ".#.")
	for i := range parts {
		parts[i] = strings.Trim(parts[i], ".")
	}
	return parts
}

// machines returns every machine that the rule finds in the input, or why they
// cannot be told.
func (r *rule) machines(input []byte) (vms []VM, why string) {
	if len(r.vms) == 0 {
		return nil, "the rule does not say which argument names it"
	}
	seen := map[VM]bool{}
	for _, v := range r.vms {
		refs, why := v.refs(input)
		if why != "" {
			return nil, why
		}
		site := ""
		if v.sitePath != "" {
			site = gjson.GetBytes(input, v.sitePath).String()
			if site != "" && unusable(site) != "" {
				return nil, "the argument that names its site cannot be one"
			}
		}
		for _, ref := range refs {
			vm := VM{Ref: ref, Kind: v.kind, Site: site}
			if !seen[vm] {
				seen[vm] = true
				vms = append(vms, vm)
			}
		}
	}
	if len(vms) > maxVMs {
		return nil, fmt.Sprintf("it names %d machines, more than the %d that one call may", len(vms), maxVMs)
	}
	return vms, ""
}

func (v *vmRule) refs(input []byte) ([]string, string) {
	if len(v.fixed) > 0 {
		return v.fixed, ""
	}
	found, why := walk(gjson.ParseBytes(input), v.path)
	if why != "" {
		return nil, why
	}
	var refs []string
	for _, f := range found {
		got, why := v.named(f)
		if why != "" {
			return nil, why
		}
		refs = append(refs, got...)
	}
	if len(refs) == 0 {
		return nil, "the list of machines is empty"
	}
	return refs, ""
}

// walk follows the path, through every element of every list on its way.
func walk(v gjson.Result, path []string) ([]gjson.Result, string) {
	if path[0] != "" {
		v = v.Get(path[0])
	}
	if !v.Exists() {
		return nil, fmt.Sprintf("the argument %s is not there", strings.Join(path, ".#."))
	}
	if len(path) == 1 {
		return []gjson.Result{v}, ""
	}
	if !v.IsArray() {
		return nil, fmt.Sprintf("the argument %s is no list", path[0])
	}
	elements := v.Array()
	if len(elements) == 0 {
		return nil, "the list of machines is empty"
	}
	var all []gjson.Result
	for _, e := range elements {
		got, why := walk(e, path[1:])
		if why != "" {
			return nil, why
		}
		all = append(all, got...)
	}
	return all, ""
}

// named turns one value into the machines it names. A value is a string, an
// integer taken digit by digit, or a list of these.
func (v *vmRule) named(r gjson.Result) ([]string, string) {
	switch {
	case r.IsArray():
		var all []string
		for _, e := range r.Array() {
			if e.IsArray() {
				return nil, "the argument is a list of lists"
			}
			got, why := v.named(e)
			if why != "" {
				return nil, why
			}
			all = append(all, got...)
		}
		return all, ""
	case r.Type == gjson.String:
		return v.text(r.Str)
	case r.Type == gjson.Number:
		if strings.ContainsAny(r.Raw, ".eE") {
			return nil, "the argument is a number with a fraction or an exponent"
		}
		return v.text(r.Raw)
	default:
		return nil, "the argument is neither a name nor a number"
	}
}

func (v *vmRule) text(s string) ([]string, string) {
	refs := []string{s}
	if v.match != nil {
		refs = nil
		for _, m := range v.match.FindAllStringSubmatch(s, -1) {
			refs = append(refs, strings.FieldsFunc(m[1], func(r rune) bool { return unicode.IsSpace(r) || r == ',' })...)
		}
		if len(refs) == 0 {
			return nil, "the argument names no machine in the form that the rule looks for"
		}
	}
	var all []string
	for _, ref := range refs {
		if why := unusable(ref); why != "" {
			return nil, why
		}
		if other, ok := v.alias[ref]; ok {
			all = append(all, other...)
		} else {
			all = append(all, ref)
		}
	}
	return all, ""
}

// unusable says why a string cannot be the name of one machine, or "".
func unusable(ref string) string {
	switch {
	case strings.TrimSpace(ref) == "":
		return "the argument that names it is blank"
	case len(ref) > maxRef:
		return fmt.Sprintf("the argument that names it is longer than %d bytes", maxRef)
	case strings.ContainsAny(ref, "*?"):
		return "the argument that names it is a pattern"
	case strings.ContainsFunc(ref, func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar
	}):
		return "the argument that names it holds characters that cannot be seen"
	}
	return ""
}

package settings

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// An entry is one hook in the making of a report.
type entry struct {
	Entry
	node    *Node
	pos     int
	dropped string // why the host does not load it; empty when it does
	owner   *checker
	words   []string // the command, split; nil when it cannot be split

	swallowed string // how the shell loses the command's status; empty when it does not
}

func (c *checker) entry(eventName, matcher string, n *Node, path string) {
	e := &entry{owner: c, node: n, pos: n.Pos}
	e.Entry = Entry{File: c.file.Name, Layer: c.file.Layer, Path: path, Event: eventName, Matcher: matcher}
	e.Line, _ = position(c.file.Bytes, n.Pos)
	c.entries = append(c.entries, e)
	errors := len(c.findings)
	c.entryShape(e)
	for _, f := range c.findings[errors:] {
		if f.Severity == Error && shapeCodes[f.Code] {
			e.dropped = "its shape is wrong"
		}
	}
	if e.dropped == "" && n.IsObject() {
		c.command(e)
		c.headers(e)
		c.guarding(e)
	}
}

// shapeCodes are the findings for which the host does not load an entry.
var shapeCodes = map[string]bool{
	"entry-type": true, "type-missing": true, "type-unknown": true, "key-missing": true, "key-type": true, "timeout-type": true, "on-failure": true,
}

func (c *checker) entryShape(e *entry) {
	n, path := e.node, e.Path
	if !n.IsObject() {
		hint := `write {"type": "command", "command": "…"}`
		c.bad(e.Event, n, path, "entry-type", "a hook entry must be an object, this is "+n.what(), hint)
		return
	}
	t := n.Get("type")
	typ, ok := hookType{}, false
	if t.IsString() {
		e.Type = t.Text
		typ, ok = hookTypes[t.Text]
	}
	switch {
	case t == nil:
		c.bad(e.Event, n, path, "type-missing", "the entry has no type", "add \"type\": \"command\"")
	case !t.IsString():
		c.bad(e.Event, t, pointer(path, "type"), "type-missing", "the type must be a string, this is "+t.what(), "")
	case !ok:
		hint := "the types are " + strings.Join(typeNames, ", ")
		if k := nearest(t.Text, typeNames); k != "" {
			hint = "is " + k + " meant?"
		}
		c.bad(e.Event, t, pointer(path, "type"), "type-unknown", fmt.Sprintf("the host knows no hook type %q", t.Text), hint)
	}
	if !ok { // look at the rest as at a command, so that all faults are told at once
		typ = hookType{nil, hookTypes["command"].keys}
	}
	for _, k := range typ.required {
		if n.Get(k) == nil {
			c.bad(e.Event, n, path, "key-missing", fmt.Sprintf("a hook of type %s needs %q", e.Type, k), missingHint(e.Type, k))
		}
	}
	n.last(func(m Member) { c.entryKey(e, typ, ok, m) })
}

func missingHint(typ, key string) string {
	switch {
	case typ == "command":
		return "add the command to run"
	case key == "prompt":
		return "add the question that the model is asked"
	default:
		return "add " + key
	}
}

func (c *checker) entryKey(e *entry, typ hookType, known bool, m Member) {
	p := pointer(e.Path, m.Name)
	k, ok := typ.keys[m.Name]
	if !ok {
		if known && m.Name != "type" {
			c.unknownKey(e, typ, m, p)
		}
		return
	}
	wrong := func(want string) {
		c.bad(e.Event, m.Value, p, "key-type", fmt.Sprintf("%s must be %s, this is %s", m.Name, want, m.Value.what()), "")
	}
	switch k {
	case aString:
		switch {
		case !m.Value.IsString():
			wrong("a string")
		case strings.TrimSpace(m.Value.Text) == "" && slices.Contains(typ.required, m.Name):
			c.add(Error, m.Value.Pos, p, "key-empty", fmt.Sprintf("%s is empty, so the hook does nothing", m.Name), missingHint(e.Type, m.Name))
		}
	case aBool:
		if m.Value.Kind != 't' && m.Value.Kind != 'f' {
			wrong("true or false")
		}
	case stringList:
		if !m.Value.IsList() || slices.ContainsFunc(m.Value.Items, func(i *Node) bool { return !i.IsString() }) {
			wrong("a list of strings")
		}
	case stringMap, anyMap:
		bad := !m.Value.IsObject()
		m.Value.last(func(x Member) { bad = bad || k == stringMap && !x.Value.IsString() })
		if bad {
			wrong("an object of strings")
		}
	case aShell:
		if !m.Value.IsString() || m.Value.Text != "bash" && m.Value.Text != "powershell" {
			c.bad(e.Event, m.Value, p, "key-type", `shell must be "bash" or "powershell"`, "")
		}
	case aURL:
		c.url(e, m, p)
	case seconds:
		c.timeout(e.Event, m.Value, p)
	case anOnFailure:
		c.onFailure(e, m.Value, p)
	case anything:
		if m.Name == "onFailure" && (!m.Value.IsString() || m.Value.Text != "block" && m.Value.Text != "continue") {
			c.add(Warning, m.Value.Pos, p, "on-failure", "on a hook of type mcp_tool any value but \"continue\" reads as \"block\"", "write \"block\" or \"continue\"")
		}
	}
}

func (c *checker) url(e *entry, m Member, path string) {
	if !m.Value.IsString() {
		c.bad(e.Event, m.Value, path, "key-type", "url must be a string, this is "+m.Value.what(), "")
		return
	}
	u, err := url.Parse(m.Value.Text)
	switch {
	case err != nil || u.Scheme == "":
		c.bad(e.Event, m.Value, path, "key-type", fmt.Sprintf("%q is not a URL", m.Value.Text), "write http://HOST/PATH or https://HOST/PATH")
	case u.Scheme != "http" && u.Scheme != "https":
		c.add(Warning, m.Value.Pos, path, "url-scheme", fmt.Sprintf("a hook is called over http or https, not over %q", u.Scheme), "")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		c.add(Warning, m.Value.Pos, path, "url-plain", "the call and its answer travel unencrypted, so anyone on the way can allow it", "use https")
	}
}

func loopback(host string) bool {
	return host == "localhost" || strings.HasPrefix(host, "127.") || host == "::1"
}

func (c *checker) onFailure(e *entry, v *Node, path string) {
	switch {
	case v.IsString() && (v.Text == "block" || v.Text == "continue"):
		e.written = v.Text
	case Older(c.o.Client, SinceOnFailure):
		c.add(Error, v.Pos, path, "on-failure", fmt.Sprintf("onFailure must be exactly \"block\" or \"continue\", this is %s", show(v)),
			fmt.Sprintf("the host %s ignores the key; from %s on it does not load the entry", c.o.Client, SinceOnFailure))
	default:
		hint := `write "block" to block the call when the hook fails`
		if v.IsString() && strings.EqualFold(strings.TrimSpace(v.Text), "continue") {
			hint = `write "continue", or leave the key out`
		}
		c.bad(e.Event, v, path, "on-failure", fmt.Sprintf("onFailure must be exactly \"block\" or \"continue\", this is %s", show(v)), hint)
	}
}

func show(v *Node) string {
	if v.IsString() {
		return fmt.Sprintf("%.40q", v.Text)
	}
	if v.Kind == '0' {
		return v.Text
	}
	return v.what()
}

// timeout judges a time in seconds.
func (c *checker) timeout(eventName string, v *Node, path string) {
	if v.Kind != '0' {
		c.bad(eventName, v, path, "timeout-type", "timeout must be a number of seconds, this is "+show(v), "write it without quotes and unit")
		return
	}
	s, err := json.Number(v.Text).Float64()
	switch {
	case err != nil || s > 2147483:
		c.add(Error, v.Pos, path, "timeout-range", fmt.Sprintf("a timeout of %.40s seconds is beyond what a timer can hold", v.Text), "it is in seconds; write 60 for a minute")
	case s <= 0:
		c.bad(eventName, v, path, "timeout-type", fmt.Sprintf("timeout must be more than 0, this is %.40s", v.Text), "it is in seconds, fractions are allowed")
	case s >= 1000 && (s == float64(int64(s)) && int64(s)%500 == 0 || s > 7200):
		c.add(Warning, v.Pos, path, "timeout-unit", fmt.Sprintf("timeout is in seconds: %s is %s; milliseconds seem to be meant", v.Text, (time.Duration(s)*time.Second).String()),
			fmt.Sprintf("write %g", s/1000))
	}
}

// units are keys that other tools and older guides use for the timeout.
var units = []string{"timeout_ms", "timeoutms", "timeoutsec", "timeoutseconds", "timeout_sec", "timeout_seconds", "timeoutmillis", "timeout_s"}

// failureKeys are keys of other tools that say what becomes of a failed hook,
// in lower case and without signs.
var failureKeys = []string{
	"failclosed", "failopen", "failmode", "failuremode", "failurepolicy", "onerror", "ontimeout", "errormode", "blocking", "blockonfailure", "blockonerror", "continueonerror", "required",
}

func (c *checker) unknownKey(e *entry, typ hookType, m Member, path string) {
	if isDocumentation(m.Name) {
		return
	}
	keys := make([]string, 0, len(typ.keys))
	for k := range typ.keys {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	near := nearest(m.Name, keys)
	_, elsewhere := hookTypes["command"].keys[m.Name]
	switch {
	case m.Name == "onFailure":
		c.add(Warning, m.Pos, path, "key-without-effect", fmt.Sprintf("a hook of type %s has no onFailure; when it fails, the call goes on", e.Type), "only command, http and mcp_tool hooks can block on failure")
	case slices.Contains(units, strings.ToLower(m.Name)):
		c.add(Warning, m.Pos, path, "unknown-key", fmt.Sprintf("%q is ignored; the host's own timeout holds", m.Name), "the key is timeout, in seconds")
	case strings.EqualFold(m.Name, "onFailure") || strings.EqualFold(strings.ReplaceAll(strings.ReplaceAll(m.Name, "_", ""), "-", ""), "onFailure") || near == "onFailure":
		c.add(Warning, m.Pos, path, "key-case", fmt.Sprintf("%q is ignored, so the hook fails open", m.Name), "the key is onFailure")
	case slices.Contains(failureKeys, strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(m.Name))):
		c.add(Warning, m.Pos, path, "unknown-key", fmt.Sprintf("%q is of another tool and is ignored, so the hook fails open", m.Name), `the key is "onFailure": "block"`)
	case near != "":
		c.add(Warning, m.Pos, path, "unknown-key", fmt.Sprintf("%q is ignored", m.Name), "is "+near+" meant?")
	case m.Name == "matcher" || m.Name == "hooks":
		c.add(Warning, m.Pos, path, "unknown-key", fmt.Sprintf("%q on an entry is ignored", m.Name), "it belongs on the matcher group around it")
	case elsewhere:
		c.add(Warning, m.Pos, path, "key-without-effect", fmt.Sprintf("a hook of type %s has no %q; it is ignored", e.Type, m.Name), "")
	case m.Name == "enabled" || m.Name == "disabled":
		c.add(Warning, m.Pos, path, "unknown-key", fmt.Sprintf("%q is ignored: the hook runs all the same", m.Name), "take the entry out to switch it off")
	default:
		c.add(Warning, m.Pos, path, "unknown-key", fmt.Sprintf("the host does not know %q here and ignores it", m.Name), "if it was to limit the hook, the hook runs without that limit")
	}
}

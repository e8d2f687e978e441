package settings

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"hooktrail/internal/event"
	"hooktrail/internal/schema"
)

// A File is one settings file to be checked.
type File struct {
	Name  string // as findings shall name it
	Layer string // user, project, local, managed, plugin; empty when not known
	Bytes []byte
	Err   error // why it could not be read; it is then only reported
}

// Options configure Check. The zero value works.
type Options struct {
	// Client is the version of the host whose behaviour is foretold. Empty
	// means NewestClient.
	Client string

	// Home is the user's home directory, for paths that begin with ~. Empty
	// means that they are not looked at.
	Home string

	// Project is the project's directory, for paths that begin with
	// ${CLAUDE_PROJECT_DIR}. Empty means the directory above a
	// project's or local file's .claude.
	Project string

	// Path is the PATH on which a hook finds programs. Empty means that names
	// without a path are not looked up.
	Path string

	// Budget returns how long our own hook may take under a configuration
	// file; path is empty when the entry names none. Nil means that it is not
	// looked at.
	Budget func(path string) (time.Duration, error)

	// watched says that the question comes from a hook: the host runs, so nothing
	// keeps it from starting, and a project's names must not hold the hook up, so
	// the programs that entries name are not looked at.
	watched bool
}

// A Report is what Check found. Both lists are in the order of the files'
// names and of the places in them.
type Report struct {
	Client   string    `json:"client"`
	Findings []Finding `json:"findings"`
	Entries  []Entry   `json:"entries"`
	Void     []string  `json:"void"` // files that the host throws away whole

	// Halts says why the host does not start with these files; empty when it does.
	Halts string `json:"halts,omitempty"`
}

// Count returns how many findings have a severity.
func (r Report) Count(s Severity) int {
	n := 0
	for _, f := range r.Findings {
		if f.Severity == s {
			n++
		}
	}
	return n
}

// Check looks at the files one by one and then at what they are together. It
// reads commands that entries name, and runs none.
func Check(files []File, o Options) Report {
	if o.Client == "" {
		o.Client = NewestClient
	}
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	r := Report{Client: o.Client, Findings: []Finding{}, Entries: []Entry{}, Void: []string{}}
	var checks []*checker
	for _, f := range files {
		c := &checker{file: f, o: &o}
		c.check()
		checks = append(checks, c)
	}
	if !o.watched {
		r.Halts = halts(checks)
	}
	together(checks, r.Halts)
	for _, c := range checks {
		c.foretell()
		r.Findings = append(r.Findings, c.findings...)
		for _, e := range c.entries {
			r.Entries = append(r.Entries, e.Entry)
		}
		if c.void != "" {
			r.Void = append(r.Void, c.file.Name)
		}
	}
	sortFindings(r.Findings)
	return r
}

// A checker looks at one file.
type checker struct {
	file     File
	o        *Options
	root     *Node
	findings []Finding
	entries  []*entry
	void     string // why the host throws the file away; empty when it does not
	off      string // why none of its hooks run; empty when they do
	broken   bool   // whether it is no JSON object at all
	halts    bool   // whether the host does not even start
}

// maxFindings bounds what is said about one file. Nobody reads more, and a file
// made of faults would take for ever.
const maxFindings = 500

func (c *checker) add(s Severity, pos int, path, code, message, hint string) {
	if len(c.findings) == maxFindings {
		s, code, message, hint = Error, "too-many", "there is more of this; mend the first findings", ""
	} else if len(c.findings) > maxFindings {
		return
	}
	line, col := position(c.file.Bytes, pos)
	if c.file.Err != nil {
		line, col = 0, 0
	}
	c.findings = append(c.findings, Finding{
		File: c.file.Name, Layer: c.file.Layer, Path: path, Line: line, Column: col, Severity: s, Code: code, Message: message, Hint: hint,
	})
}

func (c *checker) check() {
	if c.file.Err != nil {
		c.add(Error, 0, "", "unreadable", "cannot be read: "+reading(c.file.Err), "")
		return
	}
	root, err := Parse(c.file.Bytes)
	if err != nil {
		se := err.(*SyntaxError) //nolint:errorlint,forcetypeassert // every error of Parse is one
		if c.managed() && len(bytes.TrimSpace(bytes.TrimPrefix(c.file.Bytes, bom))) == 0 {
			se.Hint = "the host takes a managed file without a word for none"
		} else {
			c.voids("it is not JSON")
			c.broken = true
		}
		if c.managed() && c.broken {
			se.Hint = strings.TrimPrefix(se.Hint+"; "+c.voidHint(), "; ")
		}
		c.add(Error, se.Offset, "", "json-syntax", se.Message, se.Hint)
		return
	}
	c.root = root
	if strings.HasPrefix(string(c.file.Bytes), string(bom)) {
		c.add(Warning, 0, "", "bom", "the file begins with a byte order mark (BOM)", "save it without one; other readers of the file stumble over it")
	}
	if !root.IsObject() {
		c.voids("it is not an object")
		c.broken = true
		c.add(Error, root.Pos, "", "not-an-object", "settings are one JSON object, this is "+root.what(), c.voidHint())
		return
	}
	c.repeated(root, "")
	c.top(root)
}

func reading(err error) string {
	if os.IsNotExist(err) {
		return "no such file"
	}
	s := err.Error()
	if i := strings.LastIndex(s, ": "); i >= 0 {
		s = s[i+2:]
	}
	return s
}

// repeated finds names that stand twice in an object.
func (c *checker) repeated(n *Node, path string) {
	switch n.Kind { //nolint:exhaustive // only these two hold others
	case '[':
		for i, item := range n.Items {
			c.repeated(item, index(path, i))
		}
	case '{':
		seen := map[string]bool{}
		for _, m := range n.Members {
			if seen[m.Name] {
				hint := "the last one counts and the earlier is lost; merge them"
				c.add(Warning, m.Pos, pointer(path, m.Name), "duplicate-key", fmt.Sprintf("%q stands here more than once", m.Name), hint)
			}
			seen[m.Name] = true
		}
		for _, m := range n.Members {
			c.repeated(m.Value, pointer(path, m.Name))
		}
	}
}

// topKeys are settings that matter here, to recognise them when misspelt.
var topKeys = []string{"hooks", "permissions", "disableAllHooks", "allowManagedHooksOnly", "allowedHttpHookUrls", "httpHookAllowedEnvVars"}

func (c *checker) top(root *Node) {
	foreign := c.foreign(root)
	hooks := root.Get("hooks")
	bare := false
	root.last(func(m Member) {
		path := pointer("", m.Name)
		switch {
		case slices.Contains(event.Known(), m.Name) || hooks == nil && meantEvent(m.Name) != "" && (m.Value.IsList() || m.Value.IsObject()):
			bare = true
			if !c.managed() && isGuard(m.Name) && m.Value.Kind != 'n' && (!m.Value.IsList() || len(m.Value.Items) > 0) {
				c.voids("guards stand at the top")
			}
			c.add(Error, m.Pos, path, "hooks-level", fmt.Sprintf("%s stands at the top, where the host does not look for hooks", m.Name), `put it under "hooks": {"hooks": {"`+m.Name+`": …}}`)
		case m.Name == "type" && slices.Contains(typeNames, m.Value.Text) && hooks == nil:
			c.add(Error, m.Pos, path, "hooks-level", "a single hook entry stands at the top of the file", `entries stand in "hooks": {"PreToolUse": [{"matcher": …, "hooks": [ENTRY]}]}`)
		case strings.EqualFold(m.Name, "onFailure"):
			c.misplaced(m, path, "at the top of the file")
		default:
			if k := nearest(m.Name, topKeys); k != "" && k != m.Name && root.Get(k) == nil {
				sev := Warning
				if k == "hooks" && (m.Value.IsObject() || m.Value.IsList()) {
					sev = Error
				}
				c.add(sev, m.Pos, path, "unknown-key", fmt.Sprintf("%q is no setting and is ignored", m.Name), "is "+k+" meant?")
			}
		}
	})
	c.types(root)
	c.switches(root)
	switch {
	case foreign:
		// Another tool's file: its entries would only be called wrong.
	case hooks != nil:
		c.hooks(hooks, "/hooks")
		c.schema(root)
	case bare:
		events := &Node{Kind: '{', Pos: root.Pos, End: root.End}
		root.last(func(m Member) {
			if meantEvent(m.Name) != "" {
				events.Members = append(events.Members, m)
			}
		})
		void := c.void
		c.hooks(events, "")
		c.void = void
		for _, e := range c.entries {
			e.dropped = "it stands outside of hooks"
		}
	}
}

// schema reports what the schema refuses and nothing else has named: the shape
// that the schema describes is never called sound.
func (c *checker) schema(root *Node) {
	if len(c.findings) > maxFindings {
		return // enough is said, and each refusal costs the schema memory
	}
	for _, v := range schema.Validate("hooks-settings", root.value()) {
		named := slices.ContainsFunc(c.findings, func(f Finding) bool {
			return f.Severity == Error && (f.Path == v.Path || strings.HasPrefix(f.Path, v.Path+"/") || strings.HasPrefix(v.Path, f.Path+"/"))
		})
		if !named {
			c.add(Error, c.find(v.Path).Pos, v.Path, "schema", v.Message, "")
		}
	}
}

// find returns the value at a JSON Pointer, or the nearest one around it.
func (c *checker) find(path string) *Node {
	n := c.root
	for _, t := range strings.Split(strings.TrimPrefix(path, "/"), "/") {
		next := n.Get(strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~"))
		if i, err := strconv.Atoi(t); err == nil && n.IsList() && i >= 0 && i < len(n.Items) {
			next = n.Items[i]
		}
		if next == nil {
			break
		}
		n = next
	}
	return n
}

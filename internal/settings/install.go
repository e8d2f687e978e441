package settings

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"hooktrail/internal/event"
)

// InstallOptions say what is put into a settings file.
type InstallOptions struct {
	// Binary is our own program; an absolute path.
	Binary string
	// Earlier are paths under which our program was installed before; entries
	// with them are ours, whatever the program is called.
	Earlier []string
	// Config is the configuration that the hook is to use; an absolute path.
	// With it on the command line no project can change it by environment.
	Config string
	// URL, when not empty, is where hooks are posted to instead of running
	// Binary.
	URL string
	// TokenEnv names the variable that holds the bearer token for URL; empty
	// means that none is sent.
	TokenEnv string
	// Timeout is what the host gives the guard, in seconds. It must be above
	// the guard's own budget. Zero means 180.
	Timeout int
	// Events are the events to be registered; nil means all that can be
	// observed.
	Events []string
	// Wrap puts the command entries of others under "hooktrail run".
	Wrap bool
}

// ErrRefused is why a file is not edited: it cannot be read as what it should
// be. It stays as it is.
var ErrRefused = errors.New("the file is left as it is")

func (o *InstallOptions) fill() error {
	if o.Timeout == 0 {
		o.Timeout = 180
	}
	if o.Events == nil {
		o.Events, _ = Events("all")
	}
	switch {
	case o.URL == "" && !filepath.IsAbs(o.Binary):
		return fmt.Errorf("the program %q is not an absolute path", o.Binary)
	case o.URL == "" && !filepath.IsAbs(o.Config):
		return fmt.Errorf("the configuration %q is not an absolute path", o.Config)
	}
	return nil
}

// Install returns before with our entries in it, and nothing else changed. An
// empty file and a missing one become a new one. What is installed already
// comes back byte for byte.
func Install(before []byte, o InstallOptions) ([]byte, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(before)) == 0 {
		before = []byte("{}\n")
	}
	d, err := editable(before)
	if err != nil {
		return nil, err
	}
	d.binaries = append([]string{o.Binary}, o.Earlier...)
	if o.Wrap {
		if err := d.wrap(o); err != nil {
			return nil, err
		}
	}
	for _, e := range d.installedEvents() {
		if !contains(o.Events, e) || !d.same(e, o) {
			if err := d.takeOut(e); err != nil {
				return nil, err
			}
		}
	}
	for _, e := range o.Events {
		if !d.same(e, o) {
			if err := d.putIn(e, o); err != nil {
				return nil, err
			}
		}
	}
	return d.b, nil
}

// Uninstall returns before without our entries and without our wrapping of
// others. A file without them comes back byte for byte. Binaries are our
// program's paths where it was installed under another name.
func Uninstall(before []byte, binaries ...string) ([]byte, error) {
	d, err := editable(before)
	if err != nil {
		return nil, err
	}
	d.binaries = binaries
	for _, e := range d.installedEvents() {
		if err := d.takeOut(e); err != nil {
			return nil, err
		}
	}
	if err := d.unwrap(); err != nil {
		return nil, err
	}
	return d.b, nil
}

// editable reads a file that may be edited: JSON, an object, whose hooks are of
// a shape in which something can be put.
func editable(b []byte) (*doc, error) {
	d, err := newDoc(b)
	if err != nil {
		var se *SyntaxError
		if errors.As(err, &se) {
			line, col := position(b, se.Offset)
			return nil, fmt.Errorf("line %d, column %d: %w; %w", line, col, err, ErrRefused)
		}
		return nil, err
	}
	refuse := func(format string, args ...any) (*doc, error) {
		return nil, fmt.Errorf(format+"; %w", append(args, ErrRefused)...)
	}
	if !d.root.IsObject() {
		return refuse("settings are an object, this is %s", d.root.what())
	}
	seen := 0
	for _, m := range d.root.Members {
		if m.Name == "hooks" {
			seen++
		}
	}
	hooks := d.root.Get("hooks")
	switch {
	case seen > 1:
		return refuse("hooks stands there %d times", seen)
	case hooks == nil:
		return d, nil
	case !hooks.IsObject():
		return refuse("hooks is not an object but %s", hooks.what())
	}
	names := map[string]bool{}
	for _, m := range hooks.Members {
		switch {
		case names[m.Name]:
			return refuse("hooks.%s stands there more than once", m.Name)
		case !m.Value.IsList() && contains(event.Known(), m.Name):
			return refuse("hooks.%s is not a list but %s", m.Name, m.Value.what())
		}
		names[m.Name] = true
	}
	return d, nil
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

// installedEvents returns the events under which an entry of ours stands.
func (d *doc) installedEvents() []string {
	var all []string
	for _, m := range d.root.Get("hooks").members() {
		for _, g := range m.Value.Items {
			for _, e := range g.Get("hooks").items() {
				if isOurs(e, d.binaries...) && !contains(all, m.Name) {
					all = append(all, m.Name)
				}
			}
		}
	}
	return all
}

func (n *Node) members() []Member {
	if n == nil {
		return nil
	}
	return n.Members
}

func (n *Node) items() []*Node {
	if n == nil {
		return nil
	}
	return n.Items
}

// same tells whether exactly the entry that we would write for an event is
// there, once.
func (d *doc) same(eventName string, o InstallOptions) bool {
	want := encode(o.ours(eventName), "", "")
	found := 0
	for _, g := range d.root.Get("hooks").Get(eventName).items() {
		for _, e := range g.Get("hooks").items() {
			if !isOurs(e, d.binaries...) {
				continue
			}
			if w, err := Parse([]byte(want)); err != nil || !equal(g, w) {
				return false
			}
			found++
		}
	}
	return found == 1
}

// equal compares two values, whatever their white space.
func equal(a, b *Node) bool {
	if a.Kind != b.Kind || a.Text != b.Text || len(a.Members) != len(b.Members) || len(a.Items) != len(b.Items) {
		return false
	}
	for i, m := range a.Members {
		other := b.Get(m.Name)
		if other == nil || !equal(m.Value, other) {
			return false
		}
		_ = i
	}
	for i := range a.Items {
		if !equal(a.Items[i], b.Items[i]) {
			return false
		}
	}
	return true
}

// takeOut removes our entries of an event, and what becomes empty by it.
func (d *doc) takeOut(eventName string) error {
	for {
		list := d.root.Get("hooks").Get(eventName)
		parent, i := d.find(list)
		if parent == nil {
			break
		}
		if err := d.remove(parent, i); err != nil {
			return err
		}
	}
	hooks := d.root.Get("hooks")
	for i, m := range hooks.members() {
		if m.Name == eventName && len(m.Value.Items) == 0 {
			if err := d.remove(hooks, i); err != nil {
				return err
			}
			break
		}
	}
	for i, m := range d.root.Members {
		if m.Name == "hooks" && len(m.Value.Members) == 0 {
			return d.remove(d.root, i)
		}
	}
	return nil
}

// find returns the place of the first group or entry of ours in a list of
// groups.
func (d *doc) find(list *Node) (parent *Node, i int) {
	for i, g := range list.items() {
		if oursGroup(g, d.binaries...) {
			return list, i
		}
		for j, e := range g.Get("hooks").items() {
			if isOurs(e, d.binaries...) {
				return g.Get("hooks"), j
			}
		}
	}
	return nil, 0
}

func (d *doc) putIn(eventName string, o InstallOptions) error {
	g := o.ours(eventName)
	hooks := d.root.Get("hooks")
	switch {
	case hooks == nil:
		return d.add(d.root, "hooks", map[string][]group{eventName: {g}})
	case hooks.Get(eventName) == nil:
		return d.add(hooks, eventName, []group{g})
	default:
		return d.add(hooks.Get(eventName), "", g)
	}
}

// Names of the commands that Wrap leaves alone would be misread by a shell of
// another kind.
func foreignShell(n *Node) bool {
	s := n.Get("shell")
	return s != nil && !strings.EqualFold(s.Text, "bash")
}

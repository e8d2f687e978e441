package settings

// An Own is an entry of ours, taken apart.
type Own struct {
	Words     []string // the command line
	URL       string   // of an entry over HTTP
	Condition string   // its "if"
}

// Ours tells whether an entry of a report is one of ours, and takes it apart.
// Binaries are our program's paths that records name.
func Ours(files []File, e Entry, binaries ...string) (Own, bool) {
	for _, f := range files {
		if f.Name != e.File {
			continue
		}
		root, err := Parse(f.Bytes)
		if err != nil {
			return Own{}, false
		}
		c := &checker{root: root}
		n := c.find(e.Path)
		if !n.IsObject() || !isOurs(n, binaries...) {
			return Own{}, false
		}
		words, _ := argv(n)
		return Own{Words: program(words), URL: text(n, "url"), Condition: text(n, "if")}, true
	}
	return Own{}, false
}

// Idle says why the host would not run an entry of ours in a settings file, or
// "" when it runs them all: the file may have a fault of others for which the
// host throws it away, or turn hooks off.
func Idle(f File, binaries ...string) string {
	for _, e := range Check([]File{f}, Options{}).Entries {
		if _, ours := Ours([]File{f}, e, binaries...); ours && !e.Runs {
			return e.Why
		}
	}
	return ""
}

package settings

import "cmp"

// voids notes that the host throws the whole file away.
func (c *checker) voids(why string) {
	if c.void == "" {
		c.void = why
	}
}

// voidHint says what a file that the host throws away comes to.
func (c *checker) voidHint() string {
	switch {
	case c.managed() && c.broken:
		return "the host does not start until this is mended"
	case c.managed():
		return "the host does not load the file and, when there is no other managed one, does not start until this is mended"
	}
	return "the host throws away the whole file, its permission rules included, until this is mended"
}

// setting notes a setting that the host cannot use, and says what becomes of the
// file: it is void, but of a managed one the rest stays in force.
func (c *checker) setting(why, instead string) (hint string) {
	if c.managed() {
		return "the host " + instead + " and keeps the rest of a managed file"
	}
	c.voids(why)
	return c.voidHint()
}

// halts says why the host does not start at all, or "": a managed file is no
// JSON object, or one has a guard that cannot be loaded and there is no other.
func halts(all []*checker) string {
	why, loaded := "", false
	for _, c := range all {
		switch {
		case !c.managed():
		case c.broken:
			return "the host does not start with a managed file like " + c.file.Name + ": " + c.void
		case c.void != "":
			why = cmp.Or(why, "the host does not start while no managed file can be loaded; in "+c.file.Name+": "+c.void)
		case c.root.IsObject() && len(c.root.Members) > 0:
			loaded = true
		}
	}
	if loaded {
		return ""
	}
	return why
}

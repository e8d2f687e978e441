package settings

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A Record says what Install did to a file. It lies in the state folder, with
// the file's first bytes beside it, so that uninstalling can give them back and
// a ConfigChange can be judged by what should be there.
type Record struct {
	File      string    `json:"file"`
	Existed   bool      `json:"existed"`
	BeforeSHA string    `json:"beforeSha256"`
	AfterSHA  string    `json:"afterSha256"`
	Events    []string  `json:"events"`
	Binary    string    `json:"binary,omitempty"`
	Config    string    `json:"config,omitempty"`
	URL       string    `json:"url,omitempty"`
	Installed time.Time `json:"installed"`
}

// A Store keeps records and backups in a folder of ours.
type Store struct {
	Dir string
	Now func() time.Time
}

func (s Store) base(file string) string {
	sum := sha256.Sum256([]byte(file))
	return filepath.Join(s.Dir, hex.EncodeToString(sum[:8]))
}

// Backup returns where the first bytes of a file are kept.
func (s Store) Backup(file string) string { return s.base(file) + ".before" }

// Get returns the record of a file; ok is false when there is none.
func (s Store) Get(file string) (r Record, ok bool) {
	b, err := ReadFile(s.base(file) + ".json")
	if err != nil || json.Unmarshal(b, &r) != nil || r.File != file {
		return Record{}, false
	}
	return r, true
}

// All returns every record that can be read.
func (s Store) All() []Record {
	names, _ := filepath.Glob(filepath.Join(s.Dir, "*.json"))
	var all []Record
	for _, n := range names {
		var r Record
		if b, err := ReadFile(n); err == nil && json.Unmarshal(b, &r) == nil && r.File != "" {
			all = append(all, r)
		}
	}
	return all
}

// A Change is a file before and after an edit.
type Change struct {
	File    string // symbolic links followed
	Existed bool
	Before  []byte
	After   []byte
}

// Changed tells whether there is anything to be written.
func (c Change) Changed() bool {
	return !c.Existed && len(c.After) > 0 || !bytes.Equal(c.Before, c.After)
}

// Plan works out what installing would make of a file, and writes nothing.
func (s Store) Plan(file string, o InstallOptions) (Change, error) {
	c, err := load(file)
	if err != nil {
		return c, err
	}
	if r, ok := s.Get(c.File); ok && r.Binary != "" {
		o.Earlier = append(o.Earlier, r.Binary)
	}
	c.After, err = Install(c.Before, o)
	return c, err
}

// PlanRemoval works out what uninstalling would make of a file: its first bytes
// when nobody else changed it since, else the same file without our entries. A
// nil After means that the file goes away again.
func (s Store) PlanRemoval(file string) (Change, error) {
	c, err := load(file)
	if err != nil {
		return c, err
	}
	r, ok := s.Get(c.File)
	if ok && digest(c.Before) == r.AfterSHA {
		if !r.Existed {
			return c, nil
		}
		if b, err := ReadFile(s.Backup(c.File)); err == nil && digest(b) == r.BeforeSHA {
			c.After = b
			return c, nil
		}
	}
	c.After, err = Uninstall(c.Before, r.Binary)
	return c, err
}

func load(file string) (Change, error) {
	abs, err := filepath.Abs(file)
	if err != nil {
		return Change{}, err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	} else if _, err := os.Lstat(abs); err == nil {
		return Change{}, fmt.Errorf("%s is a link that leads nowhere; %w", abs, ErrRefused)
	}
	c := Change{File: abs}
	c.Before, err = ReadFile(abs)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return c, nil
	case err != nil:
		return c, err
	}
	c.Existed = true
	return c, nil
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Apply writes a planned installation: the backup and the record first, then
// the file in one step. It refuses when somebody changed the file meanwhile.
func (s Store) Apply(c Change, o InstallOptions) error {
	if err := o.fill(); err != nil {
		return err
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return fmt.Errorf("make folder for the backup: %w", err)
	}
	r, again := s.Get(c.File)
	if !again || r.AfterSHA != digest(c.Before) {
		// When ours are in it already, what was there without us is the best
		// there is to go back to.
		base := c.Before
		if b, err := Uninstall(c.Before, o.Binary, r.Binary); err == nil {
			base = b
		}
		r = Record{Existed: c.Existed, BeforeSHA: digest(base)}
		if err := replace(s.Backup(c.File), base, 0o600); err != nil {
			return fmt.Errorf("write backup: %w", err)
		}
	}
	r.File, r.AfterSHA, r.Events = c.File, digest(c.After), o.Events
	r.Binary, r.Config, r.URL, r.Installed = o.Binary, o.Config, o.URL, s.Now().UTC()
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := replace(s.base(c.File)+".json", append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	if !c.Changed() {
		return nil
	}
	return write(c)
}

// Recorded tells whether the file is as a record left it.
func (s Store) Recorded(c Change) bool {
	r, ok := s.Get(c.File)
	return ok && r.AfterSHA == digest(c.After)
}

// Remove writes a planned removal and forgets the record.
func (s Store) Remove(c Change) error {
	if c.After == nil && c.Existed {
		if err := unchanged(c); err != nil {
			return err
		}
		if err := os.Remove(c.File); err != nil {
			return err
		}
	} else if err := write(c); err != nil {
		return err
	}
	_ = os.Remove(s.base(c.File) + ".json")
	_ = os.Remove(s.Backup(c.File))
	return nil
}

func unchanged(c Change) error {
	now, err := ReadFile(c.File)
	if errors.Is(err, os.ErrNotExist) && !c.Existed {
		return nil
	}
	if err != nil || !bytes.Equal(now, c.Before) || !c.Existed {
		return fmt.Errorf("%s was changed by somebody else just now; %w", c.File, ErrRefused)
	}
	return nil
}

func write(c Change) error {
	if err := unchanged(c); err != nil {
		return err
	}
	mode := os.FileMode(0o600)
	if info, err := os.Stat(c.File); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(c.File), 0o700); err != nil {
		return err
	}
	return replace(c.File, c.After, mode)
}

// replace puts b in the place of a file in one step: whoever reads it finds the
// old bytes or the new ones, even after a power cut.
func replace(name string, b []byte, mode os.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".hooktrail-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(b)
	if e := f.Chmod(mode); err == nil {
		err = e
	}
	if e := f.Sync(); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	if d, err := os.Open(filepath.Dir(name)); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
	return nil
}

package settings

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"time"
)

var versionText = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d+\.\d+\.\d+`) })

// Client returns the version of the host that is installed: of the program
// called claude in path, a list as PATH is. It is told from where the program
// lies when it can be, else the program is asked, for three seconds at most. It
// returns "" when there is none or it does not say.
func Client(ctx context.Context, path string) string {
	for _, dir := range filepath.SplitList(path) {
		name := filepath.Join(dir, "claude")
		info, err := os.Stat(name)
		if !filepath.IsAbs(dir) || err != nil || info.IsDir() || info.Mode()&0o111 == 0 {
			continue
		}
		if real, err := filepath.EvalSymlinks(name); err == nil {
			if v := versionOf(real); v != "" {
				return v
			}
		}
		ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
		defer cancel()
		cmd := exec.CommandContext(ctx, name, "--version") //nolint:gosec // the host the user runs every day
		cmd.WaitDelay = time.Second
		out, _ := cmd.Output()
		return versionText().FindString(string(out[:min(len(out), 4096)]))
	}
	return ""
}

// versionOf tells the version from a path such as …/versions/2.1.328 or from
// the package.json beside or above the program.
func versionOf(real string) string {
	if base := filepath.Base(real); versionText().FindString(base) == base && base != "" {
		return base
	}
	for dir, i := filepath.Dir(real), 0; i < 2; dir, i = filepath.Dir(dir), i+1 {
		b, err := ReadFile(filepath.Join(dir, "package.json"))
		if err != nil {
			continue
		}
		root, err := Parse(b)
		if err != nil {
			continue
		}
		if v := root.Get("version"); v.IsString() && versionText().FindString(v.Text) == v.Text {
			return v.Text
		}
	}
	return ""
}

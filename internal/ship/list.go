package ship

import (
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// logFiles returns the files of the log, oldest first, the current one last.
func logFiles(path string) ([]string, error) {
	names, err := filepath.Glob(path + ".*")
	if err != nil {
		return nil, err
	}
	type e struct {
		n string
		s uint64
	}
	var es []e
	for _, n := range names {
		if strings.HasSuffix(n, ".lock") || strings.HasSuffix(n, ".head") {
			continue
		}
		f, err := openLogFile(n)
		if err != nil {
			continue
		}
		b, _, _ := f.line()
		m, _ := ParseMeta(b)
		f.close()
		es = append(es, e{n, m.Seq})
	}
	sort.Slice(es, func(i, j int) bool { return es[i].s < es[j].s })
	var out []string
	for _, x := range es {
		out = append(out, x.n)
	}
	if _, err := os.Stat(path); err == nil {
		out = append(out, path)
	}
	return out, nil
}

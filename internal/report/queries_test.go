package report

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/itchyny/gojq"
	"github.com/stretchr/testify/require"
)

// lines are the raw lines of a file as jq's inputs.
type lines struct{ left [][]byte }

func (l *lines) Next() (any, bool) {
	if len(l.left) == 0 {
		return nil, false
	}
	b := l.left[0]
	l.left = l.left[1:]
	return string(b), true
}

// TestQueries runs every jq program of docs/queries.md, and holds those that
// count against the reports.
func TestQueries(t *testing.T) {
	doc, err := os.ReadFile("../../docs/queries.md")
	require.NoError(t, err)
	log, err := os.ReadFile("testdata/sample-audit.jsonl")
	require.NoError(t, err)
	log = append(log, "a torn li"...)
	found := regexp.MustCompile("(?s)\\*\\*[^\n]*\\(`([a-z]+) ?([^`]*)`[^\n]*\\*\\*\n\n```sh\njq -rnR '(.*?)' audit.jsonl\n```").FindAllSubmatch(doc, -1)
	require.Len(t, found, bytes.Count(doc, []byte("```sh")))
	require.GreaterOrEqual(t, len(found), 15)
	got := map[string][]string{}
	for _, m := range found {
		q, err := gojq.Parse(string(m[3]))
		require.NoError(t, err, "%s", m[3])
		code, err := gojq.Compile(q, gojq.WithInputIter(&lines{bytes.Split(log, []byte("\n"))}))
		require.NoError(t, err)
		var out []string
		for it := code.Run(nil); ; {
			v, ok := it.Next()
			if !ok {
				break
			}
			require.NotImplements(t, (*error)(nil), v, "%s", m[3])
			out = append(out, strings.ReplaceAll(fmt.Sprint(v), "\t", " "))
		}
		require.NotEmpty(t, out, "%s", m[3])
		slices.Sort(out)
		if _, ok := got[string(m[2])]; !ok {
			got[string(m[2])] = out
		}
	}
	table := func(name string, columns ...int) []string {
		res, err := Run(t.Context(), Options{Files: []string{"testdata/sample-audit.jsonl"}, Name: name})
		require.NoError(t, err)
		tb := res.Tables[0]
		for i, r := range tb.Rows {
			cells := make([]any, len(columns))
			for k, c := range columns {
				cells[k] = r[c]
			}
			tb.Rows[i] = cells
		}
		return flat(tb)
	}
	require.Equal(t, table("hook-failures", 0, 1, 2), got["hook-failures"])
	require.Equal(t, table("blocks-by-cause", 2, 0, 1), got["blocks-by-cause"])
	require.Equal(t, table("fail-open", 0, 1, 2, 3), got["fail-open"])
	require.Equal(t, table("exit-codes", 0, 1, 2), got["exit-codes"])
	require.Equal(t, table("retries", 0, 1, 2, 3), got["retries"])
	require.Equal(t, table("call", 1), got["call"])
	require.Equal(t, table("integrity", 0, 1, 2, 3, 4, 5), got["integrity"])
	require.Equal(t, table("timeouts", 0, 1, 2, 3), got["timeouts"])
	require.Equal(t, table("sensitive", 3, 0, 1, 2), got["sensitive"])
	require.Equal(t, table("bypass-and-first-seen", 0, 1, 2, 3), got["bypass-and-first-seen"])
}

package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// month writes a made-up log of n events with faults in it, the same at every
// run.
func month(t testing.TB, path string, n int) {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	w := bufio.NewWriterSize(f, 1<<20)
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	step := 30 * 24 * time.Hour / time.Duration(n)
	seq, call := 0, 0
	write := func(m string) {
		at = at.Add(step)
		seq++
		if seq%100003 == 0 {
			seq++ // a lost event
		}
		fmt.Fprintf(w, `{"time":"%s","eventId":"01930000-0000-7000-8000-%012d","seq":%d,"prev":"%064d","schemaVersion":1,"product":"hooktrail/%s","host":"ws-%d","user":"u%d",%s,"configSha256":"%064d"}`+"\n",
			at.Format("2006-01-02T15:04:05.000000000Z"), seq, seq, 0, pick("0.1.0", "0.1.1"), call/200%20, call/200%30, m, at.Day()/11)
	}
	for seq < n {
		call++
		session := fmt.Sprintf("s-%d", call/200)
		base := fmt.Sprintf(`"sessionId":"%s","toolUseId":"toolu_%08d","permissionMode":"%s","cwd":"/home/u/app"`, session, call, pick("default", "bypassPermissions", "dontAsk"))
		tool := pick("Bash", "Bash", "Write", "mcp__vsphere__vm_power_off")
		what := `,"tool":"` + tool + `"`
		switch tool {
		case "Bash":
			what += `,"command":"` + pick("npm test", "cat .env", `echo \"a\" \\ b`, "git push") + fmt.Sprint(r.IntN(50)) + `"`
		case "Write":
			what += `,"target":"/home/u/app/` + pick("main.go", ".env", ".ssh/id_rsa") + `"`
		default:
			what += `,"mcpServer":"vsphere","target":"app01","checkpoint":{"vm":"app01","cadenceS":5,"waitedMs":1,"state":"confirmed"}`
		}
		ran := true
		hook := pick("pre.sh", "secrets.py", "lint.py")
		switch x := r.IntN(100); {
		case x < 4:
			write(fmt.Sprintf(`"kind":"callback","hookEvent":"PreToolUse",%s%s,"hookName":"%s","onFailure":"continue","exitCode":%s,"timedOut":false,"gate":"not_block_mode","layer":"failure","decision":"allowed","reason":"hook_failed_open","message":"m","durationMs":%d`, base, what, hook, pick("1", "127"), r.IntN(900)))
		case x < 7:
			ran = r.IntN(50) == 0
			write(fmt.Sprintf(`"kind":"callback","hookEvent":"PreToolUse",%s%s,"hookName":"%s","onFailure":"block","exitCode":137,"timedOut":true,"gate":"timeout_block","layer":"failure","decision":"blocked","reason":"hook_callback_failed","message":"m","durationMs":9000,"deadlineMs":9000`, base, what, hook))
		case x < 10:
			ran = false
			write(fmt.Sprintf(`"kind":"permission",%s%s,"layer":"permission","decision":"denied","reason":"%s","message":"m"`, base, what, pick("permission_rule", "permission_user", "permission_mode")))
		case x < 13:
			ran = false
			write(fmt.Sprintf(`"kind":"invocation","hookEvent":"PreToolUse",%s%s,"hookName":"hooktrail","exitCode":0,"timedOut":false,"gate":"allow","layer":"guard","decision":"blocked","reason":"guard_rule_denied","message":"m","durationMs":%d,"deadlineMs":150000`, base, what, r.IntN(90)))
		default:
			write(fmt.Sprintf(`"kind":"invocation","hookEvent":"PreToolUse",%s%s,"hookName":"hooktrail","exitCode":0,"timedOut":false,"gate":"allow","layer":"guard","decision":"allowed","reason":"guard_unguarded","message":"","durationMs":%d,"deadlineMs":150000`, base, what, r.IntN(90)))
		}
		if ran {
			write(fmt.Sprintf(`"kind":"invocation","hookEvent":"PostToolUse",%s%s,"hookName":"hooktrail","layer":"none","decision":"none","reason":"observed","message":"","gate":"allow","exitCode":0,"timedOut":false`, base, what))
		}
		if call%200 == 199 && call%1000 != 999 {
			write(fmt.Sprintf(`"kind":"invocation","hookEvent":"SessionEnd","sessionId":"%s","layer":"none","decision":"none","reason":"observed","message":""`, session))
		}
		if call%20000 == 7 {
			write(`"kind":"log","action":"rotated","layer":"none","decision":"none","reason":"observed","message":"rotated"`)
			write(`"kind":"invocation","hookEvent":"ConfigChange","sessionId":"` + session + `","layer":"guard","decision":"blocked","reason":"settings_disarm","message":"m"`)
		}
	}
	require.NoError(t, w.Flush())
	require.NoError(t, f.Close())
}

// flat renders a table without the columns named.
func flat(tb Table) []string {
	var out []string
	for _, r := range tb.Rows {
		out = append(out, strings.TrimSuffix(fmt.Sprintln(r...), "\n"))
	}
	slices.Sort(out)
	return out
}

// TestReportsAgainstAnIndependentCount counts the same log again, in the plainest
// way: each line through encoding/json into a map.
func TestReportsAgainstAnIndependentCount(t *testing.T) {
	for _, size := range []int{0, 20000} {
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		if size == 0 {
			b, err := os.ReadFile("testdata/sample-audit.jsonl")
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path, b, 0o600))
		} else {
			month(t, path, size)
		}
		compare(t, path)
	}
}

func compare(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	var all []map[string]any
	for line := range bytes.SplitSeq(bytes.TrimSpace(b), []byte("\n")) {
		var m map[string]any
		require.NoError(t, json.Unmarshal(line, &m))
		all = append(all, m)
	}
	s := func(m map[string]any, k string) string {
		switch v := m[k].(type) {
		case nil:
			return ""
		case float64:
			return fmt.Sprintf("%.0f", v)
		default:
			return fmt.Sprint(v)
		}
	}
	group := func(want func(m map[string]any) bool, dims []string, uniq ...string) []string {
		n := map[string]int{}
		sets := map[string][]map[string]bool{}
		for _, m := range all {
			if !want(m) {
				continue
			}
			var ks []string
			for _, d := range dims {
				switch d {
				case "hour":
					ks = append(ks, s(m, "time")[:13])
				default:
					ks = append(ks, s(m, d))
				}
			}
			k := strings.Join(ks, " ")
			n[k]++
			if sets[k] == nil {
				for range uniq {
					sets[k] = append(sets[k], map[string]bool{})
				}
			}
			for i, u := range uniq {
				if v := s(m, u); v != "" {
					sets[k][i][v] = true
				}
			}
		}
		var out []string
		for k, c := range n {
			line := fmt.Sprintf("%s %d", k, c)
			for _, set := range sets[k] {
				line += fmt.Sprintf(" %d", len(set))
			}
			out = append(out, line)
		}
		slices.Sort(out)
		return out
	}
	tables := func(name string) []Table {
		res, err := Run(t.Context(), Options{Files: []string{path}, Name: name})
		require.NoError(t, err)
		require.Zero(t, res.Scanned.Bad)
		require.Equal(t, len(all), res.Scanned.Lines)
		return res.Tables
	}
	eq := func(k, v string) func(map[string]any) bool {
		return func(m map[string]any) bool { return s(m, k) == v }
	}
	stopped := func(m map[string]any) bool { return s(m, "decision") == "blocked" || s(m, "decision") == "denied" }

	require.Equal(t, group(eq("reason", "hook_callback_failed"), []string{"hookName"}, "sessionId", "user"), flat(tables("hook-failures")[0]))
	require.Equal(t, group(stopped, []string{"layer", "reason"}), flat(tables("blocks-by-cause")[0]))
	require.Equal(t, group(eq("reason", "hook_failed_open"), []string{"hookName", "exitCode", "timedOut"}, "toolUseId"), flat(tables("fail-open")[0]))
	require.Equal(t, group(func(m map[string]any) bool { return s(m, "gate") == "timeout_block" || s(m, "timedOut") == "true" }, []string{"hour", "hookName", "gate"}), flat(tables("timeouts")[0]))
	codes := tables("exit-codes")[0]
	for i := range codes.Rows {
		codes.Rows[i] = codes.Rows[i][:3]
	}
	require.Equal(t, group(func(m map[string]any) bool { return m["exitCode"] != nil }, []string{"hookName", "exitCode"}), flat(codes))
	require.Equal(t, group(func(m map[string]any) bool {
		return s(m, "permissionMode") == "bypassPermissions" && s(m, "hookEvent") == "PreToolUse" && (s(m, "decision") == "none" || s(m, "decision") == "allowed")
	}, []string{"user", "host", "tool"}), flat(tables("bypass-and-first-seen")[0]))
	require.Equal(t, group(func(m map[string]any) bool {
		return strings.Contains(s(m, "command"), ".env") || strings.HasSuffix(s(m, "target"), "/.env") || strings.Contains(s(m, "target"), ".ssh/")
	}, []string{"tool", "decision", "reason"}), flat(tables("sensitive")[0]))

	// Stopped and yet ran; retries; numbers; sessions without an end.
	ran, stops := map[string]bool{}, map[string]bool{}
	type try struct {
		stops   int
		n       int
		through bool
	}
	tries := map[string]*try{}
	open := map[string]bool{}
	type number struct{ n, first, last int }
	numbers := map[string]*number{}
	seen := map[string]bool{}
	for _, m := range all {
		id := s(m, "toolUseId")
		if s(m, "hookEvent") == "PostToolUse" {
			ran[id] = true
		} else if stopped(m) && id != "" {
			stops[id] = true
		}
		if s(m, "hookEvent") == "PreToolUse" && s(m, "command") != "" {
			k := s(m, "sessionId") + "|" + s(m, "tool") + "|" + s(m, "command")
			if tries[k] == nil && stopped(m) {
				tries[k] = &try{}
			}
			if e := tries[k]; e != nil {
				e.n++
				if e.through = !stopped(m); !e.through {
					e.stops++
				}
			}
		}
		if id := s(m, "sessionId"); id != "" {
			if _, ok := open[id]; !ok {
				open[id] = true
			}
			if s(m, "hookEvent") == "SessionEnd" {
				open[id] = false
			}
		}
		h, q := s(m, "host"), int(m["seq"].(float64))
		if numbers[h] == nil {
			numbers[h] = &number{first: q, last: q}
		}
		if k := fmt.Sprintf("%s/%d", h, q); !seen[k] {
			seen[k] = true
			numbers[h].n++
		}
		numbers[h].first, numbers[h].last = min(numbers[h].first, q), max(numbers[h].last, q)
	}
	n := 0
	for id := range stops {
		if ran[id] {
			n++
		}
	}
	require.Len(t, tables("call")[0].Rows, n)
	require.NotZero(t, n)
	n = 0
	for _, e := range tries {
		if e.stops >= 3 && e.through {
			n++
		}
	}
	require.Len(t, tables("retries")[0].Rows, n)
	n = 0
	for _, o := range open {
		if o {
			n++
		}
	}
	require.Len(t, tables("health")[1].Rows, n)
	for _, r := range tables("integrity")[0].Rows {
		h := numbers[r[0].(string)]
		require.Equal(t, int64(h.last-h.first+1-h.n), r[4], r[0])
	}
	require.Len(t, tables("drift")[0].Rows, len(group(func(m map[string]any) bool { return s(m, "configSha256") != "" }, []string{"host", "configSha256"})))
	require.Len(t, tables("silent-hosts")[0].Rows, len(numbers))
	for _, r := range tables("block-rate")[0].Rows {
		require.InDelta(t, float64(r[4].(int64))/float64(r[3].(int64)), r[5], 1e-9)
	}
	for _, name := range Names() {
		res, err := Run(t.Context(), Options{Files: []string{path}, Name: name[0]})
		require.NoError(t, err, name[0])
		require.NotEmpty(t, res.Tables, name[0])
	}
}

// TestBrokenLinesAreCounted and spoil nothing around them.
func TestBrokenLinesAreCounted(t *testing.T) {
	good := `{"time":"2026-11-30T08:00:00.000000000Z","host":"h","seq":1,"reason":"hook_callback_failed","hookName":"a \"b\"","x":[{"y":"}"},1],"sessionId":"s"}`
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(good+"\nnonsense\n{\"a\":\n"+good+"\n\n"+good[:40]+"\n"+good), 0o600))
	res, err := Run(t.Context(), Options{Files: []string{path}, Name: "hook-failures"})
	require.NoError(t, err)
	require.Equal(t, 3, res.Scanned.Bad)
	require.Equal(t, []string{`a "b" 3 1 0`}, flat(res.Tables[0]))
}

func FuzzRow(f *testing.F) {
	f.Add([]byte(`{"time":"a","seq":1,"hookName":"a\"b","x":{"y":[1,"}"]}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var r row
		ok := r.scan(line)
		var m map[string]any
		if json.Unmarshal(line, &m) != nil || m == nil {
			return
		}
		var compact bytes.Buffer
		if json.Compact(&compact, line) != nil || !bytes.Equal(compact.Bytes(), line) {
			return // we write no blanks
		}
		if v, is := m["hookName"].(string); ok && is && bytes.Count(line, []byte(`hookName`)) == 1 && strings.ToValidUTF8(v, "") == string(r.hookName) != (v == string(r.hookName)) {
			t.Fatalf("%q %q", v, r.hookName)
		}
	})
}

// BenchmarkMonth measures a report on a month of a million events, once it is
// told where there is room for it.
func BenchmarkMonth(b *testing.B) {
	path := filepath.Join(b.TempDir(), "audit.jsonl")
	month(b, path, 1_000_000)
	info, err := os.Stat(path)
	require.NoError(b, err)
	for _, name := range Names() {
		b.Run(name[0], func(b *testing.B) {
			b.SetBytes(info.Size())
			var peak uint64
			for b.Loop() {
				_, err := Run(b.Context(), Options{Files: []string{path}, Name: name[0]})
				require.NoError(b, err)
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapSys)
			}
			b.ReportMetric(float64(peak)/(1<<20), "heapMiB")
		})
	}
}

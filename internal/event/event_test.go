package event

import (
	"bytes"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
)

const pre = `{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t"}`

func TestParse(t *testing.T) {
	for _, tt := range []struct{ name, in, fault string }{
		{"plain", pre, ""},
		{"a byte order mark is dropped", "\xef\xbb\xbf" + pre, ""},
		{"blank lines around", "\n\n" + pre + "\n \n", ""},
		{"invalid UTF-8 is replaced", `{"session_id":"a` + "\xff" + `"}`, ""},
		{"a lone surrogate is replaced", `{"session_id":"\ud800"}`, ""},
		{"empty", "", "empty"},
		{"blank", " \n\t", "empty"},
		{"null", "null", "null"},
		{"a list", "[1]", "a list"},
		{"a string", `"x"`, "a string"},
		{"a number", "12", "a number"},
		{"text", "hello", "not JSON at byte 0"},
		{"half", pre[:40], "ends too early"},
		{"two objects", pre + pre, "something follows"},
		{"bytes after", pre + "x", "something follows"},
		{"a NUL after", pre + "\x00", "something follows"},
		{"a name twice", `{"tool_name":"a","tool_name":"b"}`, "twice"},
		{"a name twice, escaped", `{"tool_name":"a","tool\u005fname":"b"}`, "twice"},
		{"a name twice inside", `{"tool_input":{"a":1,"a":2}}`, "twice"},
		{"another case", `{"tool_input":{},"TOOL_INPUT":{}}`, "only in case"},
		{"another case, folded", `{"ſession_id":"x"}`, "only in case"},
		{"unescaped backslash", `{"cwd":"C:\Users"}`, "not JSON at byte"},
		{"too deep", strings.Repeat(`[`, 200) + strings.Repeat(`]`, 200), "128"},
		{"a huge exponent", `{"a":1e1000001}`, "exponent"},
		{"a huge negative exponent", `{"a":1e-99999999999999999999}`, "exponent"},
		{"a long number", `{"a":` + strings.Repeat("9", 500) + `}`, "500 characters"},
		{"millions of values", `{"a":[` + strings.Repeat("[],", 2<<20) + `1]}`, "more than 1048576 values"},
		{"a comment", `{"a":1} // x`, "something follows"},
		{"a trailing comma", `{"a":1,}`, "not JSON"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse([]byte(tt.in), Limits{})
			if tt.fault == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.fault)
			var f *Fault
			require.ErrorAs(t, err, &f)
		})
	}
}

func TestParseTakesTheViewFromTheValue(t *testing.T) {
	e, err := Parse([]byte(`{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"mcp__vsphere__stop","tool_input": {"id":9007199254740993,"x":"y"} ,"cwd":"C:\\Users\\Zoë","permission_mode":"auto"}`), Limits{})
	require.NoError(t, err)
	require.Equal(t, "PreToolUse", e.Name)
	require.Equal(t, "vsphere", e.MCPServer)
	require.Equal(t, `C:\Users\Zoë`, e.CWD)
	require.Equal(t, "auto", e.PermissionMode)
	require.Equal(t, `{"id":9007199254740993,"x":"y"}`, strings.TrimSpace(string(e.InputRaw)))
	b, err := e.InputJSON()
	require.NoError(t, err)
	require.Equal(t, `{"id":9007199254740993,"x":"y"}`, string(b))
}

func TestNameFault(t *testing.T) {
	for name, bad := range map[string]bool{
		"PreToolUse": false, "Stop": false, "WorktreeMerged": false, "PreToolBatch": false,
		"pretooluse": true, "pre_tool_use": true, "preToolUse": true, "PRETOOLUSE": true, "stop": true,
		"BeforeTool": true, "beforeShellExecution": true, "pre_mcp_tool_use": true,
	} {
		require.Equal(t, bad, NameFault(name) != "", name)
	}
}

// open is a reader whose end never comes.
type open struct {
	r       io.Reader
	started chan struct{}
}

func (o open) Read(p []byte) (int, error) {
	n, err := o.r.Read(p)
	if err == io.EOF {
		<-o.started
		return 0, io.EOF
	}
	return n, err
}

func TestReadDoesNotWaitForAnEndThatNeverComes(t *testing.T) {
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	b, err := Read(open{strings.NewReader(pre), never}, Limits{Timeout: time.Minute})
	require.NoError(t, err)
	require.Equal(t, pre, string(b))
}

func TestReadGivesUpOnHalfAnObject(t *testing.T) {
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	b, err := Read(open{strings.NewReader(pre[:30]), never}, Limits{Timeout: 30 * time.Millisecond})
	require.ErrorIs(t, err, ErrNotRead)
	require.Equal(t, pre[:30], string(b))
}

// TestReadPutsThePiecesTogether: however r hands out its bytes, they come in
// their order and once, and those taken before are not written over.
func TestReadPutsThePiecesTogether(t *testing.T) {
	long := []byte(`{"session_id":"`)
	for n := 0; len(long) < 3<<20; n++ {
		long = strconv.AppendInt(long, int64(n), 36)
	}
	long = append(long, `"}`...)
	for name, cut := range map[string]func(io.Reader) io.Reader{
		"whole":            func(r io.Reader) io.Reader { return r },
		"with its end":     iotest.DataErrReader,
		"halves":           iotest.HalfReader,
		"4095 bytes each":  func(r io.Reader) io.Reader { return pieces{r, 4095} },
		"1000 bytes each":  func(r io.Reader) io.Reader { return pieces{r, 1000} },
		"65536 bytes each": func(r io.Reader) io.Reader { return pieces{r, 65536} },
	} {
		t.Run(name, func(t *testing.T) {
			for _, want := range [][]byte{nil, []byte(pre), long[:4096], long[:4097], long} {
				got, err := Read(cut(bytes.NewReader(want)), Limits{})
				require.NoError(t, err)
				require.True(t, bytes.Equal(want, got), "%d bytes, got %d", len(want), len(got))
			}
		})
	}
	got, err := Read(iotest.OneByteReader(strings.NewReader(pre)), Limits{})
	require.NoError(t, err)
	require.Equal(t, pre, string(got))
}

// pieces gives at most n bytes at a time.
type pieces struct {
	r io.Reader
	n int
}

func (p pieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(p.n, len(b))]) }

func TestReadIsBounded(t *testing.T) {
	_, err := Read(strings.NewReader(strings.Repeat("x", 5000)), Limits{MaxBytes: 4096})
	require.ErrorIs(t, err, ErrNotRead)
	require.ErrorContains(t, err, "4096")
}

func TestReadSeesWhatFollowsInTheGrace(t *testing.T) {
	r, w := io.Pipe()
	go func() {
		_, _ = io.WriteString(w, pre)
		_, _ = io.WriteString(w, pre)
		_ = w.Close()
	}()
	b, err := Read(r, Limits{Grace: time.Minute})
	require.NoError(t, err)
	require.Equal(t, pre+pre, string(b))
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{pre, "", "null", `{"a":[1,2,{"b":null}]}`, `{"tool_input":{"a":1e5}}`, "\xef\xbb\xbf{}", `{"a":"\ud800"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := Parse(b, Limits{})
		if err != nil {
			var f *Fault
			require.ErrorAs(t, err, &f)
			require.NotEmpty(t, f.Message)
			return
		}
		if e.Input == nil {
			return
		}
		// What the guard reads is what was judged.
		j, err := e.InputJSON()
		require.NoError(t, err)
		again, err := Decode(j, 1000)
		require.NoError(t, err)
		require.Equal(t, any(e.Input), again)
	})
}

// TestNumbersUnderALongNameCostNoCopiesOfIt: the place of a value is as long as the
// names around it, and a copy for each number takes minutes, in which a host
// loses its patience and lets the call run.
func TestNumbersUnderALongNameCostNoCopiesOfIt(t *testing.T) {
	const name, numbers = 64 << 10, 20_000
	in := []byte(`{"` + strings.Repeat("k", name) + `":[` + strings.Repeat("1,", numbers) + `1]}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := Decode(in, 128)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100<<20)) // 1.3 GB with copies
}

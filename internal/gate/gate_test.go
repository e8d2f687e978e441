package gate

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/reason"
)

func doc(name, mode, code, late string) string {
	return `{"hookName":` + name + `,"onFailure":` + mode + `,"exitCode":` + code + `,"timedOut":` + late + `}`
}

func TestClassify(t *testing.T) {
	const n, b, c = `"a"`, `"block"`, `"continue"`
	for _, tt := range []struct {
		name, in string
		want     Branch
	}{
		{"works", doc(n, b, "0", "false"), "allow"},
		{"says no", doc(n, b, "2", "false"), "block"},
		{"fails", doc(n, b, "1", "false"), "block"},
		{"not executable", doc(n, b, "126", "false"), "block"},
		{"not found", doc(n, b, "127", "false"), "block"},
		{"killed", doc(n, b, "137", "false"), "block"},
		{"minus one", doc(n, b, "-1", "false"), "block"},
		{"a Windows status", doc(n, b, "3221225786", "false"), "block"},
		{"the largest", doc(n, b, "9223372036854775807", "false"), "block"},
		{"the smallest", doc(n, b, "-9223372036854775808", "false"), "block"},
		{"an integral float", doc(n, b, "2.0", "false"), "block"},
		{"an integral zero", doc(n, b, "0.0", "false"), "allow"},
		{"an integral exponent", doc(n, b, "1e2", "false"), "block"},
		{"minus zero", doc(n, b, "-0", "false"), "allow"},
		{"late", doc(n, b, "137", "true"), "timeout_block"},
		{"late, though it exits 0", doc(n, b, "0", "true"), "timeout_block"},
		{"late and refusing", doc(n, b, "2", "true"), "timeout_block"},
		{"not set to block", doc(n, c, "1", "false"), "not_block_mode"},
		{"not set to block, exit 0", doc(n, c, "0", "false"), "not_block_mode"},
		{"not set to block, late", doc(n, c, "0", "true"), "not_block_mode"},
		{"not set to block, exit 2", doc(n, c, "2", "false"), "not_block_mode"},
		{"pretty", "{\n \"hookName\": \"a\",\r\n \"onFailure\": \"block\", \"exitCode\": 0, \"timedOut\": false }\n", "allow"},
		{"beyond 64 bits", doc(n, b, "9223372036854775808", "false"), "schema"},
		{"a huge number", doc(n, b, "1e300", "false"), "schema"},
		{"a monstrous number", doc(n, b, "1e1000001", "false"), "schema"},
		{"null code", doc(n, b, "null", "false"), "schema"},
		{"null name", doc("null", b, "1", "false"), "schema"},
		{"null mode", doc(n, "null", "1", "false"), "schema"},
		{"null late", doc(n, b, "1", "null"), "schema"},
		{"true is no number", doc(n, b, "true", "false"), "schema"},
		{"text is no number", doc(n, b, `"2"`, "false"), "schema"},
		{"half a status", doc(n, b, "2.5", "false"), "schema"},
		{"zero is no boolean", doc(n, b, "1", "0"), "schema"},
		{"text is no boolean", doc(n, b, "1", `"false"`), "schema"},
		{"an empty name", doc(`""`, b, "1", "false"), "schema"},
		{"a name that is a list", doc(`["a"]`, b, "1", "false"), "schema"},
		{"wrong case", doc(n, `"Block"`, "1", "false"), "schema"},
		{"a blank behind", doc(n, `"block "`, "1", "false"), "schema"},
		{"another word", doc(n, `"warn"`, "1", "false"), "schema"},
		{"an extra key", `{"hookName":"a","onFailure":"block","exitCode":0,"timedOut":false,"x":1}`, "schema"},
		{"a key in another case", `{"HookName":"a","onFailure":"block","exitCode":0,"timedOut":false}`, "schema"},
		{"a key twice", `{"hookName":"a","onFailure":"block","exitCode":1,"exitCode":0,"timedOut":false}`, "schema"},
		{"no name", `{"onFailure":"block","exitCode":0,"timedOut":false}`, "schema"},
		{"no mode", `{"hookName":"a","exitCode":0,"timedOut":false}`, "schema"},
		{"no code", `{"hookName":"a","onFailure":"block","timedOut":false}`, "schema"},
		{"no late", `{"hookName":"a","onFailure":"block","exitCode":0}`, "schema"},
		{"nothing in it", `{}`, "schema"},
		{"a list", `[]`, "schema"},
		{"null", `null`, "schema"},
		{"empty", ``, "schema"},
		{"text", `block`, "schema"},
		{"two", doc(n, b, "0", "false") + doc(n, b, "1", "false"), "schema"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Classify([]byte(tt.in))
			require.Equal(t, tt.want, got.Branch)
			require.Equal(t, tt.want == "schema", len(got.Violations) > 0)
		})
	}
}

func TestAnIntegralFloatIsWrittenAsAnInteger(t *testing.T) {
	require.Equal(t, int64(2), Classify([]byte(doc(`"a"`, `"block"`, "2.0", "false"))).Result.ExitCode)
}

// TestDecide holds the whole truth table: hook_callback_failed goes with block
// and timeout_block and with nothing else.
func TestDecide(t *testing.T) {
	for _, mode := range []string{"block", "continue", "Block", ""} {
		for _, code := range []int64{0, 1, 2, 126, 127, 137, -1} {
			for _, late := range []bool{false, true} {
				o := Decide(Result{HookName: "a", OnFailure: mode, ExitCode: code, TimedOut: late})
				var want Branch
				switch {
				case mode == "Block" || mode == "":
					want = "schema"
				case mode == "continue":
					want = "not_block_mode"
				case late:
					want = "timeout_block"
				case code == 0:
					want = "allow"
				default:
					want = "block"
				}
				name := mode + " " + strconv.FormatInt(code, 10)
				require.Equal(t, want, o.Branch, name)
				require.Equal(t, want == "block" || want == "timeout_block", o.Reason == reason.HookCallbackFailed, name)
				require.Equal(t, want == "block" || want == "timeout_block" || want == "schema", o.Decision == reason.Blocked, name)
				require.Equal(t, want == "not_block_mode" && (code != 0 || late), o.Reason == reason.HookFailedOpen, name)
			}
		}
	}
	require.Equal(t, Schema, Decide(Result{OnFailure: "block"}).Branch)
}

func FuzzClassify(f *testing.F) {
	for _, s := range []string{doc(`"a"`, `"block"`, "0", "false"), doc(`"a"`, `"continue"`, "1", "true"), "", "[]", `{"exitCode":1e400}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		o := Classify(b)
		switch o.Branch {
		case Schema:
			require.Equal(t, reason.SchemaInvalid, o.Reason)
			require.Equal(t, reason.Blocked, o.Decision)
			require.NotEmpty(t, o.Violations)
		case Allow:
			require.Zero(t, o.Result.ExitCode)
			require.Equal(t, "block", o.Result.OnFailure)
		case NotBlockMode:
			require.Equal(t, "continue", o.Result.OnFailure)
		case Block, TimeoutBlock:
			require.Equal(t, reason.HookCallbackFailed, o.Reason)
			require.Equal(t, "block", o.Result.OnFailure)
		default:
			t.Fatalf("no branch: %q", o.Branch)
		}
	})
}

package guard

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/answer"
	"hooktrail/internal/config"
	"hooktrail/internal/event"
	"hooktrail/internal/reason"
)

// fake is a provider that says what it is told to, and keeps what it was asked.
type fake struct {
	code  reason.Code
	delay bool // answer only once the context has ended
	asked []Request
}

func (f *fake) Name() string { return "fake" }

func (f *fake) Protect(ctx context.Context, r Request) Outcome {
	f.asked = append(f.asked, r)
	if f.delay {
		<-ctx.Done()
	}
	return Outcome{Code: f.code, Message: "said", Context: "go back to cp 1"}
}

func parse(t *testing.T, text string) config.Config {
	t.Helper()
	c, err := config.Parse([]byte(text))
	require.NoError(t, err)
	return c
}

const catalogue = `{"guard":{"scope":["mcp__*"],"rules":[
	{"tools":["mcp__*__vm_list*","mcp__vsphere__get_?"],"class":"readOnly"},
	{"tools":["mcp__vsphere__vm_power_off"],"class":"mutating","vm":{"path":"vm_name"}},
	{"tools":["mcp__vsphere__create"],"class":"creates"},
	{"tools":["mcp__vsphere__wipe"],"class":"deny","message":"never wipe"},
	{"tools":["mcp__vsphere__none"],"class":"mutating"},
	{"tools":["mcp__os__action"],"class":"readOnly","when":{"path":"action","equals":"show"}},
	{"tools":["mcp__os__action"],"class":"mutating","vm":{"path":"id","kind":"uuid"}}]}}`

func TestJudge(t *testing.T) {
	for _, tt := range []struct {
		name, tool, input, mode string
		provider                reason.Code
		want                    answer.Decision
		code                    reason.Code
	}{
		{"outside the scope", "Bash", `{}`, "", "", answer.NoDecision, "guard_unguarded"},
		{"reads", "mcp__a__vm_list_all", `{}`, "", "", answer.NoDecision, "guard_read_only"},
		{"one character", "mcp__vsphere__get_1", `{}`, "", "", answer.NoDecision, "guard_read_only"},
		{"names are matched whole", "mcp__vsphere__get_12", `{}`, "", "", answer.Ask, "guard_tool_unlisted"},
		{"and with their case", "mcp__vsphere__VM_power_off", `{"vm_name":"a"}`, "", "", answer.Ask, "guard_tool_unlisted"},
		{"unlisted, nobody asked", "mcp__x__y", `{}`, "dontAsk", "", answer.Deny, "guard_unattended"},
		{"unlisted, auto", "mcp__x__y", `{}`, "auto", "", answer.Deny, "guard_unattended"},
		{"unlisted, bypass", "mcp__x__y", `{}`, "bypassPermissions", "", answer.Ask, "guard_tool_unlisted"},
		{"forbidden", "mcp__vsphere__wipe", `{}`, "", "", answer.Deny, "guard_rule_denied"},
		{"creates", "mcp__vsphere__create", `{}`, "", "", answer.NoDecision, "guard_unguarded"},
		{"no argument known", "mcp__vsphere__none", `{"vm_name":"a"}`, "", "guard_checkpoint_confirmed", answer.Ask, "guard_vm_missing"},
		{"a condition holds", "mcp__os__action", `{"action":"show"}`, "", "", answer.NoDecision, "guard_read_only"},
		{"a condition does not hold", "mcp__os__action", `{"action":"stop","id":"u"}`, "", "guard_checkpoint_confirmed", answer.NoDecision, "guard_checkpoint_confirmed"},
		{"confirmed", "mcp__vsphere__vm_power_off", `{"vm_name":"a"}`, "", "guard_checkpoint_confirmed", answer.NoDecision, "guard_checkpoint_confirmed"},
		{"failed", "mcp__vsphere__vm_power_off", `{"vm_name":"a"}`, "", "guard_checkpoint_failed", answer.Deny, "guard_checkpoint_failed"},
		{"unconfirmed", "mcp__vsphere__vm_power_off", `{"vm_name":"a"}`, "", "guard_checkpoint_unconfirmed", answer.Deny, "guard_checkpoint_unconfirmed"},
		{"cannot tell", "mcp__vsphere__vm_power_off", `{"vm_name":"a"}`, "", "guard_lookup_failed", answer.Deny, "guard_lookup_failed"},
		{"unknown", "mcp__vsphere__vm_power_off", `{"vm_name":"a"}`, "", "guard_vm_unknown", answer.Ask, "guard_vm_unknown"},
		{"unknown, nobody asked", "mcp__vsphere__vm_power_off", `{"vm_name":"a"}`, "auto", "guard_vm_unknown", answer.Deny, "guard_unattended"},
		{"unprotected", "mcp__vsphere__vm_power_off", `{"vm_name":"a"}`, "", "guard_vm_unprotected", answer.Ask, "guard_vm_unprotected"},
		{"ambiguous", "mcp__vsphere__vm_power_off", `{"vm_name":"a"}`, "", "guard_vm_ambiguous", answer.Ask, "guard_vm_ambiguous"},
		{"a step not recorded", "mcp__vsphere__vm_power_off", `{"vm_name":"a"}`, "", "audit_unavailable", answer.Deny, "audit_unavailable"},
		{"a provider that says nothing", "mcp__vsphere__vm_power_off", `{"vm_name":"a"}`, "", "", answer.Deny, "guard_checkpoint_failed"},
		{"a provider that says nonsense", "mcp__vsphere__vm_power_off", `{"vm_name":"a"}`, "", "hook_ok", answer.Deny, "guard_checkpoint_failed"},
		{"a provider with a read-only excuse", "mcp__vsphere__vm_power_off", `{"vm_name":"a"}`, "", "guard_read_only", answer.Deny, "guard_read_only"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &fake{code: tt.provider}
			g, err := New(parse(t, catalogue), f)
			require.NoError(t, err)
			v := g.Judge(context.Background(), Call{Tool: tt.tool, Input: []byte(tt.input), PermissionMode: tt.mode})
			require.Equal(t, tt.want, v.Decision)
			require.Equal(t, tt.code, v.Code)
			require.NotEmpty(t, v.Message)
		})
	}
}

// TestReads: what is judged without its input never depends on it.
func TestReads(t *testing.T) {
	g, err := New(parse(t, catalogue), nil)
	require.NoError(t, err)
	for tool, want := range map[string]bool{
		"Bash": false, "mcp__a__vm_list_all": false, "mcp__x__unlisted": false, "mcp__vsphere__wipe": false,
		"mcp__vsphere__vm_power_off": true, "mcp__os__action": true, "mcp__vsphere__none": true,
	} {
		require.Equal(t, want, g.Reads(tool), tool)
	}
}

func TestWithoutAProviderAChangeIsDenied(t *testing.T) {
	g, err := New(parse(t, catalogue), nil)
	require.NoError(t, err)
	v := g.Judge(context.Background(), Call{Tool: "mcp__vsphere__vm_power_off", Input: []byte(`{"vm_name":"a"}`)})
	require.Equal(t, answer.Deny, v.Decision)
	require.Equal(t, reason.GuardCheckpointFailed, v.Code)
}

func TestAProofAfterTheBudgetIsNoProof(t *testing.T) {
	c := parse(t, catalogue)
	c.Guard.Budget = config.Duration(time.Millisecond)
	g, err := New(c, &fake{code: reason.GuardCheckpointConfirmed, delay: true})
	require.NoError(t, err)
	v := g.Judge(context.Background(), Call{Tool: "mcp__vsphere__vm_power_off", Input: []byte(`{"vm_name":"a"}`)})
	require.Equal(t, answer.Deny, v.Decision)
	require.Equal(t, reason.GuardCheckpointUnconfirmed, v.Code)
	require.Empty(t, v.Context)
}

func TestNoConfigurationGuardsNothing(t *testing.T) {
	g, err := New(config.Config{}, nil)
	require.NoError(t, err)
	require.Equal(t, reason.GuardUnguarded, g.Judge(context.Background(), Call{Tool: "mcp__x__y"}).Code)
}

func TestUnlisted(t *testing.T) {
	for unlisted, want := range map[string]answer.Decision{"": answer.Ask, "ask": answer.Ask, "prompt": answer.Ask, "allow": answer.NoDecision, "deny": answer.Deny} {
		c := parse(t, catalogue)
		c.Guard.Unlisted = unlisted
		g, err := New(c, nil)
		require.NoError(t, err)
		v := g.Judge(context.Background(), Call{Tool: "mcp__x__y"})
		require.Equal(t, want, v.Decision, unlisted)
		require.Equal(t, reason.GuardToolUnlisted, v.Code)
	}
}

func TestTheOlderSpelling(t *testing.T) {
	f := &fake{code: reason.GuardCheckpointConfirmed}
	g, err := New(parse(t, `{"read_only_tools":["list","both"],"mutating_tools":{"stop":{"vm_arg":"name"},"both":{"vm_arg":"name"},"odd":{}}}`), f)
	require.NoError(t, err)
	judge := func(tool string) reason.Code {
		return g.Judge(context.Background(), Call{Tool: tool, Input: []byte(`{"name":"app"}`)}).Code
	}
	require.Equal(t, reason.GuardReadOnly, judge("list"))
	require.Equal(t, reason.GuardCheckpointConfirmed, judge("stop"))
	require.Equal(t, []VM{{Ref: "app"}}, f.asked[0].VMs)
	require.Equal(t, reason.GuardCheckpointConfirmed, judge("both"))
	require.Equal(t, reason.GuardVMMissing, judge("odd"))
	require.Equal(t, reason.GuardToolUnlisted, judge("else"))
}

func TestMachines(t *testing.T) {
	for _, tt := range []struct {
		name, vm, input string
		want            []string // nil: it cannot be told
	}{
		{"a name", `{"path":"vm_name"}`, `{"vm_name":"app-db-01"}`, []string{"app-db-01"}},
		{"blanks around a name are part of it", `{"path":"vm_name"}`, `{"vm_name":" a "}`, []string{" a "}},
		{"blank", `{"path":"vm_name"}`, `{"vm_name":"  "}`, nil},
		{"empty", `{"path":"vm_name"}`, `{"vm_name":""}`, nil},
		{"null", `{"path":"vm_name"}`, `{"vm_name":null}`, nil},
		{"true", `{"path":"vm_name"}`, `{"vm_name":true}`, nil},
		{"an object", `{"path":"vm_name"}`, `{"vm_name":{"id":1}}`, nil},
		{"missing", `{"path":"vm_name"}`, `{"name":"a"}`, nil},
		{"another case", `{"path":"vm_name"}`, `{"VM_NAME":"a"}`, nil},
		{"elsewhere", `{"path":"vm_name"}`, `{"request":{"vm_name":"a"}}`, nil},
		{"a pattern", `{"path":"vm_name"}`, `{"vm_name":"*"}`, nil},
		{"a NUL", `{"path":"vm_name"}`, `{"vm_name":"a\u0000"}`, nil},
		{"a zero-width space", `{"path":"vm_name"}`, `{"vm_name":"a\u200b"}`, nil},
		{"too long", `{"path":"vm_name"}`, `{"vm_name":"` + string(make([]byte, 0)) + long(300) + `"}`, nil},
		{"a list", `{"path":"vm_name"}`, `{"vm_name":["a","b","a"]}`, []string{"a", "b"}},
		{"a list with a hole", `{"path":"vm_name"}`, `{"vm_name":["a",null]}`, nil},
		{"a list of lists", `{"path":"vm_name"}`, `{"vm_name":[["a"]]}`, nil},
		{"an empty list", `{"path":"vm_name"}`, `{"vm_name":[]}`, nil},
		{"digits", `{"path":"vmid"}`, `{"vmid":1000000}`, []string{"1000000"}},
		{"all digits", `{"path":"vmid"}`, `{"vmid":9007199254740993}`, []string{"9007199254740993"}},
		{"an exponent", `{"path":"vmid"}`, `{"vmid":1e6}`, nil},
		{"a fraction", `{"path":"vmid"}`, `{"vmid":1.0}`, nil},
		{"nested", `{"path":"request.vm_name"}`, `{"request":{"vm_name":"a"}}`, []string{"a"}},
		{"each of a list", `{"path":"operations.#.vm_name"}`, `{"operations":[{"vm_name":"a"},{"vm_name":"b"}]}`, []string{"a", "b"}},
		{"each of a list, one without", `{"path":"operations.#.vm_name"}`, `{"operations":[{"vm_name":"a"},{"vm":"b"}]}`, nil},
		{"each of an empty list", `{"path":"operations.#.vm_name"}`, `{"operations":[]}`, nil},
		{"each of no list", `{"path":"operations.#.vm_name"}`, `{"operations":{"vm_name":"a"}}`, nil},
		{"lists in lists", `{"path":"a.#.b.#.c"}`, `{"a":[{"b":[{"c":"1"}]},{"b":[{"c":"2"},{"c":"3"}]}]}`, []string{"1", "2", "3"}},
		{"lists in lists, one without", `{"path":"a.#.b.#.c"}`, `{"a":[{"b":[{"c":"1"}]},{"b":[]}]}`, nil},
		{"a list of names by its elements", `{"path":"names.#"}`, `{"names":["a","b"]}`, []string{"a", "b"}},
		{"an alias", `{"path":"vmid","alias":{"101":"app01"}}`, `{"vmid":"101"}`, []string{"app01"}},
		{"an alias for several", `{"path":"ws","alias":{"prod":["a","b"]}}`, `{"ws":"prod"}`, []string{"a", "b"}},
		{"an alias of a number", `{"path":"vmid","alias":{"101":"app01"}}`, `{"vmid":101}`, []string{"app01"}},
		{"no alias", `{"path":"vmid","alias":{"101":"app01"}}`, `{"vmid":"102"}`, []string{"102"}},
		{"fixed", `{"fixed":["a","b"]}`, `{}`, []string{"a", "b"}},
		{"two places", `[{"path":"a"},{"path":"b"}]`, `{"a":"1","b":"2"}`, []string{"1", "2"}},
		{"two places, one empty", `[{"path":"a"},{"path":"b"}]`, `{"a":"1"}`, nil},
		{"in a command line", `{"path":"cli","match":"--instance-ids ((?:i-[0-9a-f]+ ?)+)","kind":"instance"}`, `{"cli":"aws ec2 stop-instances --instance-ids i-0a i-0b --force"}`, []string{"i-0a", "i-0b"}},
		{"not in a command line", `{"path":"cli","match":"--instance-ids ((?:i-[0-9a-f]+ ?)+)"}`, `{"cli":"aws ec2 stop-instances --filters x"}`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, err := New(parse(t, `{"guard":{"rules":[{"tools":["t"],"class":"mutating","vm":`+tt.vm+`}]}}`), nil)
			require.NoError(t, err)
			vms, why := g.rules[0].machines([]byte(tt.input))
			if tt.want == nil {
				require.NotEmpty(t, why)
				return
			}
			require.Empty(t, why)
			var got []string
			for _, v := range vms {
				got = append(got, v.Ref)
			}
			require.Equal(t, tt.want, got)
		})
	}
}

func long(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'x'
	}
	return string(b)
}

func TestNewRefusesWhatItCannotUse(t *testing.T) {
	for _, bad := range []string{
		`{"tools":["t"],"class":"mutating","vm":{"path":"a","match":"("}}`,
		`{"tools":["t"],"class":"mutating","vm":{"path":"a","match":"abc"}}`,
		`{"tools":["t"],"class":"mutating","vm":{"path":"a","fixed":["b"]}}`,
		`{"tools":["t"],"class":"mutating","vm":{"kind":"name"}}`,
		`{"tools":["t"],"class":"readOnly","when":{"path":"a","matches":"["}}`,
		`{"tools":["t"],"class":"readOnly","when":{"path":"a"}}`,
	} {
		_, err := New(parse(t, `{"guard":{"rules":[`+bad+`]}}`), nil)
		require.ErrorIs(t, err, reason.ConfigInvalid, bad)
	}
}

func FuzzMachines(f *testing.F) {
	f.Add("vm_name", `{"vm_name":"a"}`)
	f.Add("a.#.b", `{"a":[{"b":1},{}]}`)
	f.Add("a.#", `{"a":[1e6,null,["x"]]}`)
	f.Add("#", `[]`)
	f.Fuzz(func(t *testing.T, path, input string) {
		v, err := compileVM(config.VM{Path: path})
		if err != nil {
			return
		}
		if _, err := event.Decode([]byte(input), 64); err != nil || !json.Valid([]byte(input)) {
			return
		}
		r := rule{vms: []vmRule{v}}
		vms, why := r.machines([]byte(input))
		require.Equal(t, why == "", len(vms) > 0)
		for _, vm := range vms {
			require.Empty(t, unusable(vm.Ref))
		}
	})
}

// TestNamesThatDifferInCase: a server that does not mind case would take the
// other argument.
func TestNamesThatDifferInCase(t *testing.T) {
	for _, tt := range []struct {
		name, rules, input string
		ask                bool
	}{
		{"once", `{"tools":["t"],"class":"mutating","vm":{"path":"vm_name"}}`, `{"vm_name":"a","other":1}`, false},
		{"twice", `{"tools":["t"],"class":"mutating","vm":{"path":"vm_name"}}`, `{"vm_name":"a","VM_Name":"b"}`, true},
		{"twice, a letter that folds to s", `{"tools":["t"],"class":"mutating","vm":{"path":"hosts"}}`, `{"hosts":"a","hostſ":"b"}`, true},
		{"nested", `{"tools":["t"],"class":"mutating","vm":{"path":"request.vm"}}`, `{"request":{"vm":"a"},"Request":{"vm":"b"}}`, true},
		{"nested, inside", `{"tools":["t"],"class":"mutating","vm":{"path":"request.vm"}}`, `{"request":{"vm":"a","VM":"b"}}`, true},
		{"in a list", `{"tools":["t"],"class":"mutating","vm":{"path":"ops.#.vm"}}`, `{"ops":[{"vm":"a"},{"vm":"b","Vm":"c"}]}`, true},
		{"in a list at a place", `{"tools":["t"],"class":"mutating","vm":{"path":"ops.0.vm"}}`, `{"ops":[{"vm":"b","Vm":"c"}]}`, true},
		{"elsewhere in the input", `{"tools":["t"],"class":"mutating","vm":{"path":"name"}}`, `{"name":"a","tags":[{"Name":"b"}]}`, false},
		{"a name with a dot", `{"tools":["t"],"class":"mutating","vm":{"path":"vm\\.name"}}`, `{"vm.name":"a","VM.name":"b"}`, true},
		{"of the site", `{"tools":["t"],"class":"mutating","vm":{"path":"vm","sitePath":"site"}}`, `{"vm":"a","Site":"b"}`, true},
		{"of the second machine", `{"tools":["t"],"class":"mutating","vm":[{"path":"vm"},{"path":"host"}]}`, `{"vm":"a","host":"h","HOST":"i"}`, true},
		{"of a condition", `{"tools":["t"],"class":"readOnly","when":{"path":"action","equals":"list"}}`, `{"action":"list","Action":"delete"}`, true},
		{"of a condition that then does not hold", `{"tools":["t"],"class":"mutating","when":{"path":"action","equals":"delete"},"vm":{"path":"vm"}},{"tools":["t"],"class":"readOnly"}`, `{"Action":"delete","vm":"a"}`, true},
		{"of a condition, and nothing fits", `{"tools":["t"],"class":"mutating","when":{"path":"action","equals":"delete"},"vm":{"path":"vm"}}`, `{"Action":"delete"}`, true},
		{"of another tool's condition", `{"tools":["u"],"class":"deny","when":{"path":"action","equals":"delete"}},{"tools":["t"],"class":"readOnly"}`, `{"Action":"delete"}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, err := New(parse(t, `{"guard":{"unlisted":"allow","rules":[`+tt.rules+`]}}`), &fake{code: reason.GuardCheckpointConfirmed})
			require.NoError(t, err)
			v := g.Judge(context.Background(), Call{Tool: "t", Input: []byte(tt.input)})
			if !tt.ask {
				require.Equal(t, answer.NoDecision, v.Decision)
				return
			}
			require.Equal(t, answer.Ask, v.Decision, v.Message)
			require.Equal(t, "guard_vm_ambiguous", string(v.Code))
			require.Contains(t, v.Message, "only in case")
		})
	}
	// What is forbidden stays forbidden.
	for _, forbids := range []string{
		`"rules":[{"tools":["t"],"class":"deny","when":{"path":"a","exists":true}}]`,
		`"unlisted":"deny","rules":[{"tools":["t"],"class":"readOnly","when":{"path":"a","equals":9}}]`,
	} {
		g, err := New(parse(t, `{"guard":{`+forbids+`}}`), nil)
		require.NoError(t, err)
		require.Equal(t, answer.Deny, g.Judge(context.Background(), Call{Tool: "t", Input: []byte(`{"a":1,"A":2}`)}).Decision, forbids)
	}
}

// TestASiteThatCannotBeOne: it goes into requests and messages like a machine's name.
func TestASiteThatCannotBeOne(t *testing.T) {
	g, err := New(parse(t, `{"guard":{"rules":[{"tools":["t"],"class":"mutating","vm":{"path":"vm","sitePath":"site"}}]}}`), &fake{code: reason.GuardCheckpointConfirmed})
	require.NoError(t, err)
	for site, want := range map[string]answer.Decision{"vc01": answer.NoDecision, "": answer.NoDecision, "a\u0000b": answer.Ask, "a\u202eb": answer.Ask, strings.Repeat("x", 300): answer.Ask} {
		v := g.Judge(context.Background(), Call{Tool: "t", Input: []byte(`{"vm":"a","site":"` + site + `"}`)})
		require.Equal(t, want, v.Decision, site)
	}
}

// TestAConditionThatLetsThrough must hold for every value, and for values of its
// own type; one that holds a call back needs only one.
func TestAConditionThatLetsThrough(t *testing.T) {
	for _, tt := range []struct {
		name, when, input string
		reads, changes    bool // whether a readOnly rule fits, and whether a mutating one does
	}{
		{"one value", `"path":"a","equals":"list"`, `{"a":"list"}`, true, true},
		{"another value", `"path":"a","equals":"list"`, `{"a":"stop"}`, false, false},
		{"all of a list", `"path":"a","matches":"^list"`, `{"a":["list x","list y"]}`, true, true},
		{"one of a list", `"path":"a","matches":"^list"`, `{"a":["list x","stop y"]}`, false, true},
		{"an empty list", `"path":"a","matches":"^list"`, `{"a":[]}`, false, false},
		{"a list in a list", `"path":"a","matches":"list"`, `{"a":[["list x","stop y"]]}`, false, true},
		{"each element", `"path":"ops.#.a","equals":"list"`, `{"ops":[{"a":"list"},{"a":"list"}]}`, true, true},
		{"an element without the member", `"path":"ops.#.a","equals":"list"`, `{"ops":[{"a":"list"},{"b":"stop"}]}`, false, true},
		{"an element that differs", `"path":"ops.#.a","equals":"list"`, `{"ops":[{"a":"list"},{"a":"stop"}]}`, false, true},
		{"an object", `"path":"a","matches":"list"`, `{"a":{"list":"stop"}}`, false, true},
		{"false", `"path":"a","equals":false`, `{"a":false}`, true, true},
		{"false as a string, which is true in JavaScript", `"path":"a","equals":false`, `{"a":"false"}`, false, true},
		{"a number as a string", `"path":"a","equals":1`, `{"a":"1"}`, false, true},
		{"not there", `"path":"a","exists":false`, `{}`, true, true},
		{"there", `"path":"a","exists":true`, `{"a":0}`, true, true},
		{"there in each element", `"path":"ops.#.dry","exists":true`, `{"ops":[{"dry":1},{"dry":1}]}`, true, true},
		{"there in one element", `"path":"ops.#.dry","exists":true`, `{"ops":[{"dry":1},{"stop":1}]}`, false, true},
		{"there in no element", `"path":"ops.#.dry","exists":true`, `{"ops":[]}`, false, true},
		{"not there in one element", `"path":"ops.#.force","exists":false`, `{"ops":[{"list":1},{"force":1}]}`, false, true},
		{"not there in any element", `"path":"ops.#.force","exists":false`, `{"ops":[{"list":1},{"list":2}]}`, true, true},
		{"not there without elements", `"path":"ops.#.force","exists":false`, `{"ops":[]}`, true, true},
		{"not there without the list", `"path":"ops.#.force","exists":false`, `{}`, true, true},
		{"there in all, and that is not wanted", `"path":"ops.#.force","exists":false`, `{"ops":[{"force":1}]}`, false, false},
		{"one object in the place of a list", `"path":"ops.#.force","exists":false`, `{"ops":{"force":1}}`, false, true},
		{"an object of a list in a list", `"path":"a.#.b.#.c","exists":false`, `{"a":[{"b":[{"d":1}]},{"b":[{"d":1},{"c":1}]}]}`, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for class, want := range map[string]bool{"readOnly": tt.reads, "deny": tt.changes} {
				g, err := New(parse(t, `{"guard":{"rules":[{"tools":["t"],"class":"`+class+`","when":{`+tt.when+`}}]}}`), nil)
				require.NoError(t, err)
				v := g.Judge(context.Background(), Call{Tool: "t", Input: []byte(tt.input)})
				require.Equal(t, want, v.Code != reason.GuardToolUnlisted, class)
			}
		})
	}
}

// FuzzTwoReaders: what the guard lets through is the same call to a server that
// decodes without minding case, as Go's encoding/json does.
func FuzzTwoReaders(f *testing.F) {
	for _, in := range []string{
		`{"vm_name":"a"}`, `{"vm_name":"a","VM_NAME":"b"}`, `{"request":{"vm":"a"},"Request":{"VM":"b"}}`, `{"action":"list","vm_name":"a"}`,
		`{"action":"list","Action":"stop","vm_name":"a"}`, `{"Action":"stop"}`, `{"vm_name":["a"]}`, `{"vm_name":null,"vM_name":"b"}`,
	} {
		f.Add([]byte(in))
	}
	c, err := config.Parse([]byte(`{"guard":{"unlisted":"allow","rules":[
		{"tools":["t"],"class":"readOnly","when":{"path":"action","equals":"list"}},
		{"tools":["t"],"class":"mutating","when":{"path":"request","exists":true},"vm":{"path":"request.vm"}},
		{"tools":["t"],"class":"mutating","vm":{"path":"vm_name"}}]}}`))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		e, err := event.Parse([]byte(`{"tool_input":`+string(in)+`}`), event.Limits{})
		if err != nil || e.Input == nil {
			return
		}
		input, err := e.InputJSON()
		require.NoError(t, err)
		p := &fake{code: reason.GuardCheckpointConfirmed}
		g, err := New(c, p)
		require.NoError(t, err)
		if g.Judge(context.Background(), Call{Tool: "t", Input: input}).Decision != answer.NoDecision {
			return
		}
		var server struct {
			Action  string `json:"action"`
			VMName  any    `json:"vm_name"`
			Request *struct {
				VM any `json:"vm"`
			} `json:"request"`
		}
		d := json.NewDecoder(bytes.NewReader(input))
		d.UseNumber()
		if d.Decode(&server) != nil {
			return
		}
		switch {
		case len(p.asked) == 0:
			require.Equal(t, "list", server.Action, "%s", input)
		case server.Request != nil:
			require.Equal(t, refs(p.asked[0].VMs), values(server.Request.VM), "%s", input)
		default:
			require.Equal(t, refs(p.asked[0].VMs), values(server.VMName), "%s", input)
		}
	})
}

func refs(vms []VM) (all []string) {
	for _, v := range vms {
		all = append(all, v.Ref)
	}
	return all
}

// values are the machines that a server would take out of an argument.
func values(v any) (all []string) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	seen := map[string]bool{}
	for _, x := range list {
		if s := fmt.Sprint(x); !seen[s] {
			seen[s] = true
			all = append(all, s)
		}
	}
	return all
}

package cli

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"hooktrail/internal/answer"
	"hooktrail/internal/audit"
	"hooktrail/internal/config"
	"hooktrail/internal/guard"
	"hooktrail/internal/hook"
	"hooktrail/internal/zerto"
	"hooktrail/internal/zerto/zertotest"
)

const demoAbout = `Shows the pipeline on this machine with nothing set up: recorded hook events go
through the guard, a simulated Zerto Virtual Manager with a vSphere, an Azure and
an AWS site makes the checkpoints (a minute passes in a second), every event is
written to a log, the log is checked, and shipped to a NATS server that runs in
this process. All of it happens in a temporary
folder, which --keep leaves behind.`

// demoSpeed is how much faster than real time the simulated ZVM runs.
const demoSpeed = 60

func runDemo(ctx context.Context, s *Stdio, args []string) int {
	fs := newFlags(s, "demo", "[--keep]", demoAbout)
	keep := fs.Bool("keep", false, "leave the folder with the log behind")
	if status, ok := parse(s, fs, args); !ok {
		return status
	}
	dir, err := os.MkdirTemp("", "hooktrail-demo-")
	if err != nil {
		return s.fail("demo", "%v", err)
	}
	if !*keep {
		defer func() { _ = os.RemoveAll(dir) }()
	}
	d := demo{s: s, log: filepath.Join(dir, "audit.jsonl")}
	stop, err := d.start(dir)
	if err != nil {
		return s.fail("demo", "%v", err)
	}
	defer stop()
	for _, scene := range demoScenes {
		if err := d.play(ctx, scene); err != nil {
			return s.fail("demo", "%s: %v", scene.title, err)
		}
	}
	if status := d.end(ctx); status != exitOK {
		return status
	}
	if err := d.ship(ctx, dir); err != nil {
		return s.fail("demo", "%v", err)
	}
	if *keep {
		s.printf("\nThe log is %s\n", d.log)
	}
	return exitOK
}

// demo is one demonstration: the flow of "hook" against a simulated ZVM.
type demo struct {
	s    *Stdio
	log  string
	hook *hook.Hook
}

const demoCatalogue = `{"guard": {"scope": ["mcp__*"], "unlisted": "ask", "budget": "2500ms", "rules": [
  {"tools": ["mcp__vsphere__vm_list"], "class": "readOnly"},
  {"tools": ["mcp__vsphere__vm_power_off", "mcp__vsphere__vm_delete"], "class": "mutating", "vm": {"path": "vm_name"}}]}}`

func (d *demo) start(dir string) (stop func(), err error) {
	cfg, err := config.Parse([]byte(demoCatalogue))
	if err != nil {
		return nil, err
	}
	world := zertotest.Three()
	world.Groups[2].Latency = 200 * time.Second // on AWS; longer than the budget
	zvm := zertotest.New(world, zertotest.Options{Now: d.s.Now, Speed: demoSpeed})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	srv := &http.Server{Handler: zvm, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = srv.Serve(l) }() // ends with Close
	stop = func() { _ = srv.Close() }
	provider, err := zerto.New(zerto.Options{
		Config: config.Zerto{
			URL:  "http://" + l.Addr().String(),
			Auth: config.ZertoAuth{ClientID: "zerto-api", ClientSecretEnv: "SECRET"},
		},
		StateFile: filepath.Join(dir, "checkpoints.json"),
		Getenv:    func(string) string { return "demonstration" },
		Now:       zvm.Now, Speed: demoSpeed,
	})
	if err != nil {
		stop()
		return nil, err
	}
	g, err := guard.New(cfg, provider)
	if err != nil {
		stop()
		return nil, err
	}
	log, err := audit.New(audit.Options{Path: d.log, Product: "hooktrail/" + Version, Now: d.s.Now})
	if err != nil {
		stop()
		return nil, err
	}
	d.hook = hook.New(hook.Options{Log: log, Judge: &hook.Guarded{Guard: g}, JudgeTimeout: g.Budget(), ConfigSHA256: cfg.SHA256, Now: d.s.Now})
	return stop, nil
}

// A demoScene is one hook event and what it shows.
type demoScene struct {
	title string
	event string
	wait  time.Duration // before it, in simulated time
	want  string        // the reason that the flow must come to
}

func demoCall(tool, input string) string {
	return `{"session_id":"0f5a6c1e-demo","transcript_path":"/home/dev/.claude/projects/p/t.jsonl","cwd":"/home/dev/project","permission_mode":"bypassPermissions","hook_event_name":"PreToolUse","tool_name":"` + tool + `","tool_input":` + input + `,"tool_use_id":"toolu_demo"}`
}

var demoScenes = []demoScene{
	{"A call that only reads goes on.", demoCall("mcp__vsphere__vm_list", `{}`), 0, "guard_read_only"},
	{"Power off a VM on vSphere: the checkpoint is in the journal after 4 s, then the call goes on.", demoCall("mcp__vsphere__vm_power_off", `{"vm_name":"app01"}`), 0, "guard_checkpoint_confirmed"},
	{"The same on Azure, where it takes 34 s: a guard that waits a fixed time would have denied.", demoCall("mcp__vsphere__vm_power_off", `{"vm_name":"app02"}`), 0, "guard_checkpoint_confirmed"},
	{"On AWS a tag can take longer than a hook may: stopped, not called a failure, and remembered.", demoCall("mcp__vsphere__vm_power_off", `{"vm_name":"app03"}`), 0, "guard_checkpoint_unconfirmed"},
	{"Tried again when the tag has landed: the call goes on with that same tag.", demoCall("mcp__vsphere__vm_power_off", `{"vm_name":"app03"}`), 70 * time.Second, "guard_checkpoint_confirmed"},
	{"A VM that Zerto sees and does not protect: there is no way back, so a person decides.", demoCall("mcp__vsphere__vm_delete", `{"vm_name":"scratch"}`), 0, "guard_vm_unprotected"},
	{"A tool that nobody has listed, with a secret in its input: asked about, and masked in the log.", demoCall("mcp__lab__run", `{"command":"deploy --token ghp_0123456789abcdef0123456789abcdef0123"}`), 0, "guard_tool_unlisted"},
	{"Two tool names in one event: two readers would see two calls, so it is stopped.", `{"session_id":"0f5a6c1e-demo","hook_event_name":"PreToolUse","tool_name":"mcp__vsphere__vm_list","tool_name":"mcp__vsphere__vm_delete","tool_input":{"vm_name":"app01"}}`, 0, "schema_invalid"},
}

func (d *demo) play(ctx context.Context, scene demoScene) error {
	if scene.wait > 0 {
		select {
		case <-time.After(scene.wait / demoSpeed):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	d.s.printf("\n%s\n", d.s.bold(scene.title))
	reply := d.hook.Run(ctx, strings.NewReader(scene.event))
	d.s.printf("  event   %s\n", short(scene.event))
	d.s.printf("  answer  %s\n", strings.ReplaceAll(answerLine(reply), "\n", "\n          "))
	line, err := lastInvocation(d.log)
	if err != nil {
		return err
	}
	d.s.printf("  audit   %s\n", auditLine(line))
	if got := line.Get("reason").Str; got != scene.want {
		return fmt.Errorf("the reason is %s, not %s", got, scene.want)
	}
	return nil
}

func (d *demo) end(ctx context.Context) int {
	report, err := audit.Verify(ctx, d.log)
	if err != nil {
		return d.s.fail("demo", "%v", err)
	}
	d.s.printf("\n%s\n  events %d to %d in one chain, each on disk before its answer; findings: %d\n",
		d.s.bold("The log, checked line by line."), report.First, report.Last, len(report.Findings))
	if !report.Sound() {
		return exitFindings
	}
	return exitOK
}

func answerLine(r answer.Reply) string {
	status := "exit 0"
	if r.Blocked {
		status = "exit 2"
	}
	out := gjson.ParseBytes(r.Stdout).Get("hookSpecificOutput")
	switch {
	case out.Get("permissionDecision").Exists():
		return fmt.Sprintf("%s, %s: %s", status, out.Get("permissionDecision").Str, out.Get("permissionDecisionReason").Str)
	case out.Get("additionalContext").Exists():
		return fmt.Sprintf("%s, no decision; the model is told: %s", status, out.Get("additionalContext").Str)
	default:
		return status + ", nothing: the call goes on to the host's permissions"
	}
}

// auditLine shows the fields of an event that a reader looks for first.
func auditLine(e gjson.Result) string {
	var parts []string
	for _, name := range []string{"seq", "tool", "command", "target", "layer", "decision", "reason", "gate", "checkpoint.tag", "checkpoint.id", "checkpoint.state", "durationMs"} {
		if v := e.Get(name); v.Exists() {
			parts = append(parts, fmt.Sprintf("%s=%s", name[strings.LastIndex(name, ".")+1:], v.Raw))
		}
	}
	return printable(strings.Join(parts, " "))
}

func lastInvocation(path string) (last gjson.Result, err error) {
	f, err := os.Open(path) //nolint:gosec // the demonstration's own log
	if err != nil {
		return last, err
	}
	defer func() { _ = f.Close() }()
	err = audit.Scan(f, func(l audit.Line) error {
		if e := gjson.ParseBytes(l.Bytes); e.Get("kind").Str == string(audit.Invocation) {
			last = gjson.Parse(string(l.Bytes))
		}
		return nil
	})
	return last, err
}

func short(event string) string {
	e := gjson.Parse(event)
	text := fmt.Sprintf("%s %s %s", e.Get("hook_event_name").Str, e.Get("tool_name").Str, e.Get("tool_input").Raw)
	return printable(audit.Text(text, 110))
}

package answer

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"hooktrail/internal/event"
	"hooktrail/internal/reason"
)

// A Child is what a wrapped hook left behind when it ended.
type Child struct {
	// Event is the name of the event that it was asked about.
	Event string

	// ExitCode is its exit status. Failed says that its end alone makes it
	// untrustworthy: a status that is not 0, or the deadline.
	ExitCode int64
	Failed   bool

	// Stdout is its output. Tail and Dropped are set when the middle of it was
	// not kept; Brace then says that an opening brace was in the middle.
	Stdout, Tail []byte
	Dropped      int64
	Brace        bool

	Stderr []byte

	// Clean makes text of the child's fit to be shown: it redacts. Nil leaves it.
	Clean func(string) string
}

// A Said is what a wrapped hook said.
type Said struct {
	// Verdict is what it decided. Its code is one of the hook_… codes.
	Verdict

	// Fault says why its output is an attempt at an answer and none; empty when
	// it is an answer, or plain text. A refusal has no fault.
	Fault string

	// Text is the output when it is plain text.
	Text string

	// Object is the answer written afresh: one object, with the names that hosts
	// know and no others. Nil when there is nothing to hand on.
	Object []byte
}

// Parse reads what a wrapped hook said. It reads refusals generously and
// permissions strictly: a refusal counts in every shape that some host has
// known, behind a banner, and next to an approval; an approval counts only in
// exactly one valid object of the form that today's host takes. Whatever else
// tries to be an answer is a fault.
//
// The same child gives the same result, and Parse never panics on its output.
func Parse(c Child) Said {
	clean := c.Clean
	c.Clean = func(s string) string {
		s = strings.ToValidUTF8(s[:min(len(s), maxCleaned)], "\uFFFD")
		if clean == nil {
			return s
		}
		return clean(s)
	}
	s := c.read()
	if c.ExitCode == 2 && s.Decision != Deny {
		// The host's own contract: status 2 says no, and stderr says why. It does
		// so beside an approval or a question, too.
		why := string(c.Stderr)
		if s.Decision == Ask && strings.TrimSpace(why) == "" {
			why = s.Message
		}
		s.Fault, s.Object = "", nil
		s.Verdict = c.refuse(why)
	}
	if c.Failed && s.Decision == Allow {
		s.Decision, s.Object = NoDecision, nil
	}
	if c.Failed {
		s.UpdatedInput = nil
	}
	s.Code = code(s.Decision)
	return s
}

// maxCleaned bounds each text that is cleaned, in bytes: more than is ever handed
// on, so that a secret cut in half is not among it, and little enough that megabytes
// do not cost the time in which the answer is due.
const maxCleaned = 512 << 10

func code(d Decision) reason.Code {
	switch d {
	case Deny:
		return reason.HookDenied
	case Ask:
		return reason.HookAsked
	case Allow:
		return reason.HookAllowed
	case Defer, NoDecision:
	}
	return reason.HookOK
}

// read reads standard output.
func (c *Child) read() Said {
	nothing := Said{Verdict: Verdict{Decision: NoDecision}}
	out := bytes.TrimPrefix(c.Stdout, []byte("\xef\xbb\xbf"))
	if c.Dropped == 0 {
		if len(bytes.TrimSpace(out)) == 0 {
			return c.aside()
		}
		if o, ok := wholeObject(out); ok {
			return c.judge(o)
		}
	}
	parts := [][]byte{out, c.Tail}
	for _, part := range parts[:2] {
		if seen := undisguised(part); !bytes.Equal(seen, part) {
			parts = append(parts, seen)
		}
	}
	for _, part := range parts {
		if r, ok := c.scan(part); ok {
			return c.refused(r)
		}
	}
	switch {
	case slices.ContainsFunc(parts, attempt):
		nothing.Fault = fmt.Sprintf("its output is not exactly one valid answer object, it begins with %q", c.beginning(out))
	case c.Dropped > 0 && c.Brace:
		nothing.Fault = "its output is too long to be read whole, and may hold an answer"
	case c.Dropped == 0:
		nothing.Text = c.Clean(string(out))
	}
	return nothing
}

// aside reads a refusal that was written to standard error with nothing on
// standard output: by mistake, since no host looks for it there. It must be all
// that was written; logs have objects with the same words.
func (c *Child) aside() Said {
	if o, ok := wholeObject(undisguised(c.Stderr)); ok {
		if r, ok := c.refuses(o); ok {
			return c.refused(r)
		}
	}
	return Said{Verdict: Verdict{Decision: NoDecision}}
}

// beginning is what is shown of output that cannot be used.
func (c *Child) beginning(b []byte) string {
	const shown, cleaned = 40, 4 << 10 // redaction sees more than is shown
	b = bytes.TrimSpace(b)
	text := c.Clean(string(b[:min(len(b), cleaned)]))
	if r := []rune(text); len(r) > shown {
		return string(r[:shown]) + "…"
	}
	return text
}

// refused makes the whole of a refusal that was read.
func (c *Child) refused(r refusal) Said {
	s := Said{Verdict: c.refuse(r.reason)}
	s.Stop, s.StopReason, s.Interrupt = r.stop, c.Clean(r.stopReason), r.interrupt
	s.Object = c.rewriteRefusal(s.Verdict)
	return s
}

// refuse makes the verdict of a refusal. Without a reason it gives what the
// host says then.
func (c *Child) refuse(why string) Verdict {
	why = strings.TrimSpace(c.Clean(why))
	if why == "" {
		why = "Blocked by hook, without a reason."
	}
	return Verdict{Decision: Deny, Code: reason.HookDenied, Message: why}
}

// decides tells whether hosts take a permission decision at an event.
func decides(name string) bool {
	return name == event.PreToolUse || name == event.PermissionRequest
}

package answer

import (
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"hooktrail/internal/event"
)

// MaxReason is how many characters of a reason a host is given. Hosts do not
// cut: a megabyte would go to the model.
const MaxReason = 2000

// MaxContext bounds additionalContext, in characters.
const MaxContext = 8000

// A Reply is what goes to the host. The zero value lets nothing happen: no
// output, and not blocked; only Encode makes one.
type Reply struct {
	// Stdout is exactly one JSON object without a newline, or nothing.
	Stdout []byte
	// Stderr is one text for people and for hosts that read no JSON, or "".
	Stderr string
	// Blocked says that the exit status must be the blocking one.
	Blocked bool
	// MayBeLost says that nothing can be held back at the event. An answer that
	// cannot be written is lost then, and must not become the blocking status,
	// which forces the agent on at Stop and ends its turn at PostToolBatch.
	MayBeLost bool
}

// Encode writes a verdict as the answer to the named event. The verdict's texts
// must be redacted already.
//
// A deny of PreToolUse is JSON, the same reason on stderr, and blocked: newer
// hosts show the JSON's reason, older ones block on the status. A denied
// PermissionRequest is JSON alone, because the status has no effect there. An
// empty name is an event that cannot be told, and is answered like PreToolUse.
// On every other event nothing can be held back: a deny is said on stderr.
func Encode(name string, v Verdict) Reply {
	reason := cut(v.Message, MaxReason)
	switch name {
	case event.PreToolUse, "":
		return preToolUse(v, reason)
	case event.PermissionRequest:
		switch v.Decision {
		case Deny, Ask: // the request itself is the question; only a deny can be said
			if v.Decision == Ask {
				return Reply{}
			}
			return Reply{Stdout: permission("deny", reason, v.Interrupt), Stderr: reason}
		case Allow:
			return Reply{Stdout: permission("allow", "", false)}
		case Defer, NoDecision:
		}
		return Reply{}
	default:
		if v.Decision == Deny {
			return Reply{Stderr: reason}
		}
		if v.Context != "" {
			return Reply{Stdout: object(name, v, func(e *jsontext.Encoder) { text(e, "additionalContext", cut(v.Context, MaxContext)) })}
		}
		return Reply{}
	}
}

// Stop answers an event on which the blocking status itself has the wanted
// effect, such as ConfigChange, where the change is then not taken over.
func Stop(v Verdict) Reply {
	return Reply{Stderr: cut(v.Message, MaxReason), Blocked: true}
}

func preToolUse(v Verdict, reason string) Reply {
	word := map[Decision]string{Deny: "deny", Ask: "ask", Defer: "defer", Allow: "allow"}[v.Decision]
	if word == "" && v.Context == "" && v.UpdatedInput == nil {
		return Reply{Stdout: note(v)}
	}
	out := object(event.PreToolUse, v, func(e *jsontext.Encoder) {
		if word != "" {
			text(e, "permissionDecision", word)
			if reason != "" {
				text(e, "permissionDecisionReason", reason)
			}
		}
		if v.Context != "" {
			text(e, "additionalContext", cut(v.Context, MaxContext))
		}
		if v.UpdatedInput != nil && v.Decision != Deny {
			_ = e.WriteToken(jsontext.String("updatedInput"))
			_ = e.WriteValue(v.UpdatedInput)
		}
	})
	if v.Decision == Deny {
		return Reply{Stdout: out, Stderr: reason, Blocked: true}
	}
	return Reply{Stdout: out}
}

// note writes a word for the user that stands alone.
func note(v Verdict) []byte {
	if v.SystemMessage == "" {
		return nil
	}
	var b strings.Builder
	e := jsontext.NewEncoder(&b, jsontext.AllowInvalidUTF8(true), jsontext.EscapeForJS(true))
	_ = e.WriteToken(jsontext.BeginObject)
	text(e, "systemMessage", cut(v.SystemMessage, MaxReason))
	_ = e.WriteToken(jsontext.EndObject)
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}

func permission(behavior, message string, interrupt bool) []byte {
	return object(event.PermissionRequest, Verdict{}, func(e *jsontext.Encoder) {
		_ = e.WriteToken(jsontext.String("decision"))
		_ = e.WriteToken(jsontext.BeginObject)
		text(e, "behavior", behavior)
		if message != "" {
			text(e, "message", message)
		}
		if interrupt {
			_ = e.WriteToken(jsontext.String("interrupt"))
			_ = e.WriteToken(jsontext.True)
		}
		_ = e.WriteToken(jsontext.EndObject)
	})
}

// object writes {"hookSpecificOutput":{"hookEventName":name, …}}. The encoder
// writes to memory and gets sound tokens, so its errors could only be ours; a
// broken object is then no object, and the caller's Blocked still holds.
func object(name string, v Verdict, body func(*jsontext.Encoder)) []byte {
	var b strings.Builder
	e := jsontext.NewEncoder(&b, jsontext.AllowInvalidUTF8(true), jsontext.EscapeForJS(true))
	_ = e.WriteToken(jsontext.BeginObject)
	if v.Stop {
		_ = e.WriteToken(jsontext.String("continue"))
		_ = e.WriteToken(jsontext.False)
		text(e, "stopReason", cut(v.StopReason, MaxReason))
	}
	if v.SystemMessage != "" {
		text(e, "systemMessage", cut(v.SystemMessage, MaxReason))
	}
	_ = e.WriteToken(jsontext.String("hookSpecificOutput"))
	_ = e.WriteToken(jsontext.BeginObject)
	text(e, "hookEventName", name)
	body(e)
	_ = e.WriteToken(jsontext.EndObject)
	_ = e.WriteToken(jsontext.EndObject)
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}

func text(e *jsontext.Encoder, name, s string) {
	_ = e.WriteToken(jsontext.String(name))
	_ = e.WriteToken(jsontext.String(s))
}

// cut shortens s to n characters, whole ones, and says so.
func cut(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	const mark = "… [cut]"
	keep := n - utf8.RuneCountInString(mark)
	i := 0
	for range keep {
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return s[:i] + mark
}

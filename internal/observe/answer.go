package observe

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A said is what a hook's standard output says, as far as the host acts on it.
type said int

const (
	saidNothing said = iota // no decision: text, or an object without one
	saidAllow
	saidAsk
	saidDefer
	saidDeny
	saidStop   // continue: false
	saidBroken // looks like JSON and is none
)

// tolerant reads records as the host does: the last of two equal names counts,
// and bad UTF-8 is no fault. A number that is not whole, or no number, costs
// itself and not the record.
func tolerant() json.Options { return tolerantOptions() }

var tolerantOptions = sync.OnceValue(func() json.Options {
	return json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true),
		json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, to **int64) error {
			v, err := d.ReadValue()
			if err != nil {
				return err
			}
			*to = nil
			if f, err := strconv.ParseFloat(string(v), 64); v.Kind() == '0' && err == nil && math.Abs(f) < 1<<53 {
				*to = ptr(int64(f))
			}
			return nil
		})))
})

type hookAnswer struct {
	Continue           *bool          `json:"continue"`
	Decision           string         `json:"decision"`
	HookSpecificOutput jsontext.Value `json:"hookSpecificOutput"`
}

type specificOutput struct {
	PermissionDecision string         `json:"permissionDecision"`
	Decision           jsontext.Value `json:"decision"`
}

// saidIn reads one answer object.
func saidIn(object []byte) said {
	var a hookAnswer
	if json.Unmarshal(object, &a, tolerant()) != nil {
		return saidNothing
	}
	var o specificOutput
	if a.HookSpecificOutput.Kind() == '{' && json.Unmarshal(a.HookSpecificOutput, &o, tolerant()) != nil {
		return saidNothing
	}
	word := o.PermissionDecision
	if o.Decision.Kind() == '{' {
		var d struct {
			Behavior string `json:"behavior"`
		}
		if json.Unmarshal(o.Decision, &d, tolerant()) == nil {
			word = d.Behavior
		}
	}
	if word == "" {
		word = a.Decision
	}
	switch strings.ToLower(word) {
	case "deny", "block":
		return saidDeny
	case "ask":
		return saidAsk
	case "defer":
		return saidDefer
	case "allow", "approve":
		return saidAllow
	}
	if a.Continue != nil && !*a.Continue {
		return saidStop
	}
	return saidNothing
}

// readAnswer returns what a hook's output says to the host, and what is lost in
// it: a decision that the host takes for plain text because the output is not
// one JSON object.
func readAnswer(stdout string) (heard, lost said) {
	b := bytes.TrimPrefix([]byte(strings.TrimSpace(stdout)), []byte("\xef\xbb\xbf"))
	if len(b) == 0 {
		return saidNothing, saidNothing
	}
	if v := jsontext.Value(b); b[0] == '{' && v.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		return saidIn(b), saidNothing
	}
	return saidNothing, lostIn(b)
}

// lostIn looks for a decision in output that is not one object. It looks at
// the objects that stand in the text, and at the words of one that is cut off.
func lostIn(b []byte) said {
	worst := saidNothing
	for tries, i := 0, 0; tries < 64; tries++ {
		j := bytes.IndexByte(b[i:], '{')
		if j < 0 {
			break
		}
		i += j
		d := jsontext.NewDecoder(bytes.NewReader(b[i:]), tolerant())
		v, err := d.ReadValue()
		if err != nil {
			if s := wordsIn(b[i:]); s > worst {
				worst = s
			} else if worst == saidNothing && looksLikeAnswer(b[i:]) {
				worst = saidBroken
			}
			i++
			continue
		}
		if s := saidIn(v); s > worst && s != saidAllow {
			worst = s
		}
		i += len(v)
	}
	return worst
}

// wordsIn reads the decision of an object that is cut off or broken.
func wordsIn(b []byte) said {
	squeezed := strings.ToLower(string(bytes.Join(bytes.Fields(b), nil)))
	for _, w := range []struct {
		word string
		said said
	}{
		{`"permissiondecision":"deny"`, saidDeny},
		{`"decision":"block"`, saidDeny},
		{`"behavior":"deny"`, saidDeny},
		{`"permissiondecision":"ask"`, saidAsk},
	} {
		if strings.Contains(squeezed, w.word) {
			return w.said
		}
	}
	return saidNothing
}

// looksLikeAnswer tells an answer that broke off from text with a brace in it.
func looksLikeAnswer(b []byte) bool {
	return bytes.Contains(b, []byte(`"hookSpecificOutput"`)) || bytes.Contains(b, []byte(`"permissionDecision"`))
}

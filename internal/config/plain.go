package config

import (
	jsonv1 "encoding/json" // only its Number type, as package event decodes it
	"strings"

	"github.com/go-json-experiment/json"
)

// plain decodes a configuration and tells whether it is admitted beyond doubt
// without asking the schema, which costs more than all the rest of a hook's
// start. It only ever says yes to what the schema says yes to, as a test holds;
// whatever is in the least unusual is left to the schema.
func plain(b []byte, v any) (Config, bool) {
	var c Config
	if !ordinary(v) {
		return c, false
	}
	if err := json.Unmarshal(b, &c, json.RejectUnknownMembers(true)); err != nil {
		return Config{}, false
	}
	ok := oneOf(c.Guard.Unlisted, "ask", "prompt", "allow", "deny") &&
		oneOf(c.Guard.Unattended, "ask", "deny") &&
		oneOf(c.Guard.Provider, "zerto", "exec", "none") &&
		oneOf(c.Audit.OnFailure, "block", "continue") &&
		(c.Audit.RotateBytes == nil || *c.Audit.RotateBytes >= 0) && c.Audit.KeepFiles >= 0 &&
		(c.Hook.MaxInputBytes == 0 || c.Hook.MaxInputBytes >= 1024 && c.Hook.MaxInputBytes <= 1<<30) && c.Observe.MaxBytes >= 0 &&
		c.NATS.Stream == "" && c.NATS.Subject == ""
	for _, r := range c.Guard.Rules {
		ok = ok && r.plain()
	}
	if z := c.Zerto; z != nil {
		ok = ok && z.URL != "" && oneOf(z.Auth.Method, "client_credentials", "password", "session") &&
			z.TLS.PinSHA256 == "" && z.TagPrefix == "" && z.Auth.SessionMethod == nil
	}
	if c.Exec != nil {
		ok = ok && len(c.Exec.Command) > 0
	}
	return c, ok
}

func (r *Rule) plain() bool {
	ok := len(r.Tools) > 0 && r.Class != "" && oneOf(r.Class, "readOnly", "mutating", "creates", "deny")
	if w := r.When; w != nil {
		ok = ok && w.Path != ""
		switch w.Equals.(type) {
		case nil, string, bool, float64:
		default:
			ok = false
		}
	}
	for _, v := range r.VM {
		ok = ok && oneOf(v.Kind, "name", "id", "moref", "instance", "uuid")
	}
	return ok
}

func oneOf(s string, words ...string) bool {
	if s == "" {
		return true // absent: ordinary lets no empty string pass
	}
	for _, w := range words {
		if s == w {
			return true
		}
	}
	return false
}

// durations are the names of settings that hold one.
var durations = map[string]bool{
	"budget": true, "timeout": true, "requestTimeout": true, "lockTimeout": true,
	"stdinTimeout": true, "stdinGrace": true, "deadline": true, "inlineBudget": true,
}

// ordinary tells whether a value is free of what a decoder and a schema might
// take differently: nulls, things that are empty, durations in rare forms.
func ordinary(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case string:
		return v != ""
	case []any:
		for _, x := range v {
			if !ordinary(x) {
				return false
			}
		}
		return len(v) > 0
	case map[string]any:
		for name, x := range v {
			if name == "" || !ordinary(x) {
				return false
			}
			if s, ok := x.(string); ok && durations[name] && !plainDuration(s) {
				return false
			}
		}
		return len(v) > 0
	case jsonv1.Number:
		return v != "0" && v != "-0" // not to be told from absent once it is decoded
	default:
		return true
	}
}

// plainDuration is digits and one unit.
func plainDuration(s string) bool {
	for _, unit := range []string{"ms", "s", "m", "h"} {
		if n, ok := strings.CutSuffix(s, unit); ok && n != "" && strings.Trim(n, "0123456789") == "" {
			return true
		}
	}
	return false
}

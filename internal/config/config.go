// Package config reads the configuration file: strict JSON, judged by
// schemas/config.schema.json, unknown keys refused. It knows what the settings
// are called and what they mean when absent; it does nothing with them.
//
// The package is used by everything that has settings, and imports only what
// reading them needs.
package config

import "time"

// A Config is everything that can be set. The zero value is a working
// configuration that guards nothing.
type Config struct {
	// Path is the absolute path of the file; empty when there is none.
	Path string `json:"-"`
	// SHA256 is the hex digest of the file's bytes; empty when there is none.
	SHA256 string `json:"-"`

	Schema        string                  `json:"$schema"`
	Guard         Guard                   `json:"guard"`
	ReadOnlyTools []string                `json:"read_only_tools"`
	MutatingTools map[string]MutatingTool `json:"mutating_tools"`
	Exec          *Exec                   `json:"exec"`
	Zerto         *Zerto                  `json:"zerto"`
	Audit         Audit                   `json:"audit"`
	Hook          Hook                    `json:"hook"`
	Observe       Observe                 `json:"observe"`
	NATS          NATS                    `json:"nats"`
	Serve         Serve                   `json:"serve"`
}

// Guard is the catalogue: which calls are held back until there is a way back.
type Guard struct {
	Scope      []string `json:"scope"`      // globs of tool names; absent means all of them once there is a rule, else none
	Unlisted   string   `json:"unlisted"`   // ask (default; prompt is the same), allow, deny
	Unattended string   `json:"unattended"` // what an ask becomes where nobody is asked: deny (default), ask
	Budget     Duration `json:"budget"`     // for the whole guard; zero means 150 s
	Provider   string   `json:"provider"`   // zerto, exec, none; empty means the one that is configured
	Rules      []Rule   `json:"rules"`      // the first that matches wins
}

// MutatingTool is the older spelling of a mutating rule.
type MutatingTool struct {
	VMArg string `json:"vm_arg"`
}

// A Rule says what a tool's calls are.
type Rule struct {
	Tools   []string `json:"tools"`
	Class   string   `json:"class"` // readOnly, mutating, creates, deny
	When    *When    `json:"when"`
	VM      VMs      `json:"vm"`
	Message string   `json:"message"`
}

// When limits a rule to calls whose arguments fit. Of several values one is enough
// where the rule holds calls back; all must fit where it lets them through.
type When struct {
	Path    string `json:"path"`
	Matches string `json:"matches"` // RE2, not anchored
	Equals  any    `json:"equals"`
	Exists  *bool  `json:"exists"`
}

// VM says where in the arguments the machines are named.
type VM struct {
	Path     string             `json:"path"`
	Kind     string             `json:"kind"`
	Match    string             `json:"match"`
	Alias    map[string]Strings `json:"alias"`
	Fixed    []string           `json:"fixed"`
	SitePath string             `json:"sitePath"`
}

// Exec configures the exec checkpoint provider.
type Exec struct {
	Command []string `json:"command"` // a bare name is looked up in the system's folders, not on PATH
	Env     []string `json:"env"`     // variables that the command gets beside the few it always has
	Timeout Duration `json:"timeout"` // zero means 60 s
}

// Zerto configures the Zerto checkpoint provider.
type Zerto struct {
	URL            string    `json:"url"`
	Auth           ZertoAuth `json:"auth"`
	TLS            ZertoTLS  `json:"tls"`
	TagPrefix      string    `json:"tagPrefix"`      // empty means "hooktrail"
	RequestTimeout Duration  `json:"requestTimeout"` // one HTTP request; zero means 20 s
	StateFile      string    `json:"stateFile"`      // empty means checkpoints.json beside the log
}

// ZertoAuth says how to log in. Secrets come from files or the environment.
type ZertoAuth struct {
	Method           string `json:"method"`
	ClientID         string `json:"clientId"`
	ClientSecretFile string `json:"clientSecretFile"`
	ClientSecretEnv  string `json:"clientSecretEnv"`
	Username         string `json:"username"`
	PasswordFile     string `json:"passwordFile"`
	PasswordEnv      string `json:"passwordEnv"`
	SessionMethod    *int   `json:"sessionMethod"`
}

// ZertoTLS says whom to trust.
type ZertoTLS struct {
	CAFile             string `json:"caFile"`
	PinSHA256          string `json:"pinSha256"`
	InsecureSkipVerify bool   `json:"insecureSkipVerify"`
}

// Audit configures the log.
type Audit struct {
	Log         string   `json:"log"`         // empty means $XDG_STATE_HOME/hooktrail/audit.jsonl
	OnFailure   string   `json:"onFailure"`   // block (default), continue
	LockTimeout Duration `json:"lockTimeout"` // zero means 3 s
	RotateBytes *int64   `json:"rotateBytes"` // absent means 100 MiB; 0 means never
	KeepFiles   int      `json:"keepFiles"`   // rotated files kept; 0 means all
	KeyFile     string   `json:"keyFile"`     // empty means hmac.key beside the log
}

// Hook configures the reading of an event and the answer's deadline.
type Hook struct {
	StdinTimeout  Duration `json:"stdinTimeout"`  // zero means 3 s
	StdinGrace    Duration `json:"stdinGrace"`    // after a complete object; zero means 50 ms
	Deadline      Duration `json:"deadline"`      // the whole invocation; cuts the guard's budget; zero bounds the parts only
	MaxInputBytes int64    `json:"maxInputBytes"` // zero means 64 MiB
}

// Observe configures the reading of the host's own records.
type Observe struct {
	Transcript *bool    `json:"transcript"` // absent means true
	Budget     Duration `json:"budget"`     // zero means 200 ms
	MaxBytes   int64    `json:"maxBytes"`   // read from a transcript in one invocation; zero means 8 MiB
}

// NATS configures shipping.
type NATS struct {
	URL          string   `json:"url"`
	Stream       string   `json:"stream"`       // empty means HOOKTRAIL_AUDIT
	Subject      string   `json:"subject"`      // empty means hooktrail.audit.v1
	InlineBudget Duration `json:"inlineBudget"` // zero means 50 ms
	CredsFile    string   `json:"credsFile"`
	NkeyFile     string   `json:"nkeyFile"`
	TokenFile    string   `json:"tokenFile"`
	User         string   `json:"user"`
	PasswordFile string   `json:"passwordFile"`
	TLS          NATSTLS  `json:"tls"`
	CursorFile   string   `json:"cursorFile"` // empty means ship.cursor beside the log
}

// NATSTLS names PEM files.
type NATSTLS struct {
	CAFile   string `json:"caFile"`
	CertFile string `json:"certFile"`
	KeyFile  string `json:"keyFile"`
}

// Serve configures the HTTP endpoint.
type Serve struct {
	Listen    string `json:"listen"`
	Socket    string `json:"socket"`
	TokenFile string `json:"tokenFile"`
	Metrics   string `json:"metrics"`
}

// Or returns d, or other when d is zero.
func (d Duration) Or(other time.Duration) time.Duration {
	if d == 0 {
		return other
	}
	return time.Duration(d)
}

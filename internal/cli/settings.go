package cli

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"hooktrail/internal/audit"
	"hooktrail/internal/config"
	"hooktrail/internal/reason"
)

// common are the flags of every command that knows the configuration or the
// log.
type common struct {
	config string
	log    string
}

func (c *common) register(fs *flag.FlagSet) {
	fs.Func("config", "configuration `file`; with it, none of our environment variables is read", named(&c.config))
	fs.Func("log", "audit log `file`", named(&c.log))
}

// named takes a file's name. An empty one is a mistake, such as a variable that
// is not set, and must not hand the choice to the environment.
func named(to *string) func(string) error {
	return func(v string) error {
		if v == "" {
			return errors.New("it names no file")
		}
		*to = v
		return nil
	}
}

// settings is what flags, environment and file make together, in that order.
type settings struct {
	config.Config

	// Log is the path of the audit log; empty if none could be found out.
	Log string

	unread error // why the rest is not known; nil when it is
}

// load makes the settings. With an error, which has code ConfigInvalid, the
// settings hold what is still known, the log's path above all.
//
// A project's settings file can put variables into the environment of a user's
// hook. So a configuration that is named by flag is not to be weakened from
// there: with --config, no variable of ours counts, nor does XDG_STATE_HOME.
func (c *common) load(s *Stdio) (settings, error) {
	env := s.Getenv
	path := c.config
	if path != "" {
		env = func(name string) string {
			if name == "HOME" {
				return s.Getenv(name)
			}
			return ""
		}
	} else {
		path = cmp.Or(env("HOOKTRAIL_CONFIG"), env("ZERTO_REWIND_CONFIG"))
	}
	var (
		out settings
		err error
	)
	if path != "" {
		out.Config, err = config.Load(path)
	}
	if e := out.fromEnvironment(env); err == nil {
		err = e
	}
	out.Log = cmp.Or(c.log, env("HOOKTRAIL_LOG"), env("ZERTO_HOOK_LOG"), out.Audit.Log, defaultLog(env))
	if out.Log != "" {
		if abs, e := filepath.Abs(out.Log); e == nil {
			out.Log = abs
		}
	}
	return out, err
}

// fromEnvironment lets the environment override the file.
func (s *settings) fromEnvironment(env func(string) string) error {
	var errs []error
	if v := env("ZERTO_HOOK_UNKNOWN"); v != "" {
		switch v {
		case "ask", "prompt", "allow", "deny":
			s.Guard.Unlisted = v
		default:
			errs = append(errs, fmt.Errorf("ZERTO_HOOK_UNKNOWN is %q; it takes ask, prompt, allow or deny", v))
		}
	}
	if v := env("ZERTO_HOOK_GUARD_TIMEOUT"); v != "" {
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || !(n > 0 && n <= 24*60*60) { // NaN fails both
			errs = append(errs, fmt.Errorf("ZERTO_HOOK_GUARD_TIMEOUT is %q; it takes seconds, such as 150", v))
		} else {
			s.Guard.Budget = config.Duration(n * float64(time.Second))
		}
	}
	if v := env("HOOKTRAIL_NATS_URL"); v != "" {
		s.NATS.URL = v
	}
	if len(errs) > 0 {
		return reason.Wrap(reason.ConfigInvalid, "environment", errors.Join(errs...))
	}
	return nil
}

func defaultLog(env func(string) string) string {
	if dir := env("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "hooktrail", "audit.jsonl")
	}
	home := env("HOME")
	if home == "" {
		home, _ = os.UserHomeDir()
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".local", "state", "hooktrail", "audit.jsonl")
}

// open returns the log that the settings describe.
func (s *settings) open(io *Stdio) (*audit.Log, error) {
	if s.Log == "" {
		return nil, reason.Wrap(reason.AuditUnavailable, "the audit log has no place: set --log or HOME", s.unread)
	}
	return audit.New(audit.Options{
		Path: s.Log, LockTimeout: time.Duration(s.Audit.LockTimeout), RotateBytes: s.Audit.RotateBytes,
		KeepFiles: s.Audit.KeepFiles, KeyFile: s.Audit.KeyFile, Product: "hooktrail/" + Version, Now: io.Now,
	})
}

package doctor

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hooktrail/internal/regular"
	"hooktrail/internal/settings"
)

// lowSpace are the limits, in bytes, below which the disk is called low and
// full.
const (
	lowSpace  = 500 << 20
	fullSpace = 50 << 20
)

func logChecks(ctx context.Context, o Options) []Check {
	if o.Log == "" {
		return []Check{{"log", Failed, "the audit log has no place", "set HOME or audit.log in the configuration"}}
	}
	dir := filepath.Dir(o.Log)
	info, err := os.Stat(dir)
	switch {
	case os.IsNotExist(err):
		return append(space(existing(dir)), Check{"log", OK, o.Log + " does not exist yet; the first event makes it", ""})
	case err != nil:
		return []Check{{"log", Failed, err.Error(), "every call is blocked while the log cannot be written"}}
	case !info.IsDir():
		return []Check{{"log", Failed, dir + " is not a folder", "every call is blocked while the log cannot be written"}}
	}
	var all []Check
	if info.Mode().Perm()&0o022 != 0 {
		all = append(all, Check{"log", Warning, dir + " can be written by others, who can swap the log", "chmod 700 " + dir})
	}
	all = append(all, file(ctx, o)...)
	return append(all, space(dir)...)
}

func file(ctx context.Context, o Options) []Check {
	info, err := os.Lstat(o.Log)
	switch {
	case os.IsNotExist(err):
		return []Check{{"log", OK, o.Log + " does not exist yet; the first event makes it", ""}}
	case err != nil:
		return []Check{{"log", Failed, err.Error(), "every call is blocked while the log cannot be written"}}
	case info.Mode()&os.ModeSymlink == 0 && !info.Mode().IsRegular():
		return []Check{{"log", Failed, o.Log + " is not a regular file", "every call is blocked; move it away"}}
	}
	f, err := os.OpenFile(o.Log, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return []Check{{"log", Failed, err.Error(), "make it writable for this user"}}
	}
	_ = f.Close()
	var all []Check
	if info.Mode().Perm()&0o077 != 0 && info.Mode()&os.ModeSymlink == 0 {
		all = append(all, Check{"log", Warning, fmt.Sprintf("%s has mode %04o; it holds commands and paths", o.Log, info.Mode().Perm()), "chmod 600 " + o.Log})
	}
	all = append(all, Check{"log", OK, o.Log + " can be written", ""})
	if err := o.Locked(ctx, o.Log); err != nil {
		all = append(all, Check{"lock", Failed, err.Error(), "every call is blocked meanwhile; end the process that holds " + o.Log + ".lock"})
	} else {
		all = append(all, Check{"lock", OK, "the log's lock is free", ""})
	}
	wrong, doubts := o.Verify(ctx, o.Log)
	switch {
	case len(wrong) > 0:
		all = append(all, Check{"chain", Failed, fmt.Sprintf("the log was tampered with or damaged (%d findings), the first: %s", len(wrong), wrong[0]), "hooktrail verify tells all"})
	case len(doubts) > 0:
		all = append(all, Check{"chain", Warning, doubts[0], "the next event makes it good; hooktrail verify --nats tells what is missing"})
	default:
		all = append(all, Check{"chain", OK, "the log's chain is whole and ends where its head says", ""})
	}
	return all
}

func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

func space(dir string) []Check {
	free, ok := freeBytes(dir)
	if !ok {
		return nil
	}
	return []Check{room(dir, free)}
}

func room(dir string, free uint64) Check {
	switch {
	case free < fullSpace:
		return Check{"disk", Failed, fmt.Sprintf("only %d MB are free at %s; when the log cannot grow, every call is blocked", free>>20, dir), "make room"}
	case free < lowSpace:
		return Check{"disk", Warning, fmt.Sprintf("only %d MB are free at %s", free>>20, dir), "make room, or set audit.rotateBytes and audit.keepFiles"}
	}
	return Check{"disk", OK, fmt.Sprintf("%d MB are free", free>>20), ""}
}

// tail returns the last 64 KiB of the log.
func tail(name string) []byte {
	f, err := regular.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // read only
	if info, err := f.Stat(); err != nil {
		return nil
	} else if info.Size() > 64<<10 {
		_, _ = f.Seek(-64<<10, io.SeekEnd)
	}
	b, _ := io.ReadAll(io.LimitReader(f, 64<<10))
	return b
}

// Recorded tells whether the event with a mark is among the log's last ones.
func Recorded(log, mark string) bool {
	return bytes.Contains(tail(log), []byte(`"toolUseId":"`+mark+`"`))
}

func (e ours) recorded(o Options) Check {
	switch {
	case Recorded(o.Log, o.Mark):
		return Check{"record", OK, "the event stands in the log", ""}
	case e.own.URL != "": // the server has a configuration of its own
		return Check{"record", Warning, "the event was answered, but does not stand in " + o.Log, "name the log of hooktrail serve with --log"}
	}
	return Check{"record", Failed, "the event was answered, but does not stand in " + o.Log, "is the log of the installed configuration another one? Name it with --log"}
}

// clock looks for a clock that stands in the past, by the log's last event.
func clock(_ context.Context, o Options) []Check {
	now := o.Now()
	last := time.Time{}
	for _, line := range bytes.Split(tail(o.Log), []byte("\n")) {
		if n, err := settings.Parse(line); err == nil {
			if v := n.Get("time"); v.IsString() {
				if t, err := time.Parse(time.RFC3339Nano, strings.TrimSpace(v.Text)); err == nil && t.After(last) {
					last = t
				}
			}
		}
	}
	switch {
	case now.Year() < 2025:
		return []Check{{"clock", Failed, "the clock says " + now.UTC().Format(time.RFC3339), "set it; events and checkpoints are dated by it"}}
	case last.Sub(now) > time.Minute:
		return []Check{{"clock", Warning, fmt.Sprintf("the log's last event is %v in the future", last.Sub(now).Round(time.Second)), "set the clock"}}
	}
	return []Check{{"clock", OK, now.UTC().Format(time.RFC3339), ""}}
}

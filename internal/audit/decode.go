package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Decode reads one line of a log. Names it does not know are passed over, so
// that older programs read newer logs; a name that stands there twice, a value
// of the wrong type and anything that is not one object are errors.
func Decode(line []byte) (Event, error) {
	var e Event
	d := jsontext.NewDecoder(bytes.NewReader(line))
	if err := decodeObject(d, e.field); err != nil {
		return Event{}, fmt.Errorf("decode event: %w", err)
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return Event{}, errors.New("decode event: something follows the object")
	}
	if e.EventID == "" || e.Kind == "" {
		return Event{}, errors.New("decode event: no event id or no kind")
	}
	return e, nil
}

// decodeObject reads one object and hands each name with its value to set.
func decodeObject(d *jsontext.Decoder, set func(string, jsontext.Value) error) error {
	tok, err := d.ReadToken()
	if err != nil {
		return err
	}
	if tok.Kind() != '{' {
		return errors.New("not an object")
	}
	for d.PeekKind() != '}' {
		tok, err := d.ReadToken()
		if err != nil {
			return err
		}
		name := tok.String()
		v, err := d.ReadValue()
		if err != nil {
			return err
		}
		if err := set(name, v); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	_, err = d.ReadToken()
	return err
}

func (e *Event) field(name string, v jsontext.Value) error {
	if s := e.stringField(name); s != nil {
		return setString(s, v)
	}
	switch name {
	case "time":
		return setTime(&e.Time, v)
	case "seq":
		var n int64
		if err := setInt(&n, v); err != nil {
			return err
		}
		if n < 0 {
			return errors.New("negative")
		}
		e.Seq = uint64(n)
	case "schemaVersion":
		var n int64
		err := setInt(&n, v)
		e.SchemaVersion = int(n)
		return err
	case "kind":
		return setString((*string)(&e.Kind), v)
	case "layer":
		return setString((*string)(&e.Layer), v)
	case "decision":
		return setString((*string)(&e.Decision), v)
	case "reason":
		return setString((*string)(&e.Reason), v)
	case "exitCode":
		e.ExitCode = new(int64)
		return setInt(e.ExitCode, v)
	case "durationMs":
		e.DurationMs = new(int64)
		return setInt(e.DurationMs, v)
	case "deadlineMs":
		e.DeadlineMs = new(int64)
		return setInt(e.DeadlineMs, v)
	case "timedOut":
		e.TimedOut = new(bool)
		return setBool(e.TimedOut, v)
	case "truncated":
		return setBool(&e.Truncated, v)
	case "input":
		e.Input = &Input{}
		return decodeObject(jsontext.NewDecoder(bytes.NewReader(v)), e.Input.field)
	case "checkpoint":
		e.Checkpoint = &CheckpointInfo{}
		return decodeObject(jsontext.NewDecoder(bytes.NewReader(v)), e.Checkpoint.field)
	case "schemaErrors":
		return e.setSchemaErrors(v)
	}
	return nil
}

// stringField returns where the text called name belongs, or nil.
func (e *Event) stringField(name string) *string {
	switch name {
	case "eventId":
		return &e.EventID
	case "prev":
		return &e.Prev
	case "product":
		return &e.Product
	case "host":
		return &e.Host
	case "user":
		return &e.User
	case "action":
		return &e.Action
	case "sessionId":
		return &e.SessionID
	case "toolUseId":
		return &e.ToolUseID
	case "promptId":
		return &e.PromptID
	case "agentId":
		return &e.AgentID
	case "hookEvent":
		return &e.HookEvent
	case "permissionMode":
		return &e.PermissionMode
	case "cwd":
		return &e.CWD
	case "transcriptPath":
		return &e.TranscriptPath
	case "tool":
		return &e.Tool
	case "mcpServer":
		return &e.MCPServer
	case "command":
		return &e.Command
	case "target":
		return &e.Target
	case "message":
		return &e.Message
	case "hookName":
		return &e.HookName
	case "onFailure":
		return &e.OnFailure
	case "gate":
		return &e.Gate
	case "evidence":
		return &e.Evidence
	case "configSha256":
		return &e.ConfigSHA256
	}
	return nil
}

func (in *Input) field(name string, v jsontext.Value) error {
	switch name {
	case "bytes":
		return setInt(&in.Bytes, v)
	case "hmac":
		return setString(&in.HMAC, v)
	case "truncated":
		return setBool(&in.Truncated, v)
	}
	return nil
}

func (c *CheckpointInfo) field(name string, v jsontext.Value) error {
	switch name {
	case "provider":
		return setString(&c.Provider, v)
	case "vm":
		return setString(&c.VM, v)
	case "vpg":
		return setString(&c.VPG, v)
	case "site":
		return setString(&c.Site, v)
	case "platform":
		return setString(&c.Platform, v)
	case "tag":
		return setString(&c.Tag, v)
	case "id":
		return setString(&c.ID, v)
	case "state":
		return setString(&c.State, v)
	case "time":
		return setTime(&c.Time, v)
	case "cadenceS":
		return setInt(&c.CadenceS, v)
	case "waitedMs":
		return setInt(&c.WaitedMs, v)
	}
	return nil
}

func (e *Event) setSchemaErrors(v jsontext.Value) error {
	d := jsontext.NewDecoder(bytes.NewReader(v))
	if tok, err := d.ReadToken(); err != nil || tok.Kind() != '[' {
		return errors.New("not a list")
	}
	for d.PeekKind() == '{' {
		var s SchemaError
		err := decodeObject(d, func(name string, v jsontext.Value) error {
			switch name {
			case "path":
				return setString(&s.Path, v)
			case "message":
				return setString(&s.Message, v)
			}
			return nil
		})
		if err != nil {
			return err
		}
		e.SchemaErrors = append(e.SchemaErrors, s)
	}
	tok, err := d.ReadToken()
	if err == nil && tok.Kind() != ']' {
		return errors.New("not a list of objects")
	}
	return err
}

func setString(s *string, v jsontext.Value) error {
	if v.Kind() != '"' {
		return errors.New("not a string")
	}
	if !bytes.ContainsRune(v, '\\') {
		*s = string(v[1 : len(v)-1])
		return nil
	}
	var err error
	*s, err = unquote(v)
	return err
}

func setInt(n *int64, v jsontext.Value) error {
	var err error
	if *n, err = strconv.ParseInt(string(v), 10, 64); err != nil {
		return errors.New("not an integer")
	}
	return nil
}

func setBool(b *bool, v jsontext.Value) error {
	if k := v.Kind(); k != 't' && k != 'f' {
		return errors.New("not a boolean")
	}
	*b = v.Kind() == 't'
	return nil
}

func setTime(t *time.Time, v jsontext.Value) error {
	var s string
	err := setString(&s, v)
	if err == nil {
		*t, err = time.Parse(time.RFC3339Nano, s)
	}
	return err
}

package export

import (
	"strconv"
	"unicode/utf8"
)

// cef writes lines of the Common Event Format, version 0. A line is at most
// maxCEF bytes, so that it fits the 8 KiB of a syslog message with its header;
// what is cut is marked with the length that it had. Characters that the log
// does not show raw are shown as their escapes.
type cef struct{}

const (
	maxCEF   = 7680
	cefShort = 255
	cefField = 1023 // what the dictionary gives most of its texts
)

// A cefKey is a field's key in the extension. label is for keys that are named
// by another key.
type cefKey struct {
	field      field
	key, label string
	limit      int
}

// cefKeys are in the order of their worth: what does not fit a line is at the
// end. Keys that begin with hooktrail are ours, in the form that the format wants
// of a vendor's own keys.
var cefKeys = [...]cefKey{
	{fEventID, "externalId", "", 40},
	{fSeq, "cn3", "seq", 0},
	{fKind, "cat", "", cefShort},
	{fAction, "hooktrailAction", "", cefShort},
	{fHookEvent, "deviceFacility", "", cefShort},
	{fDecision, "act", "", 63},
	{fReason, "reason", "", cefShort},
	{fLayer, "cs3", "layer", cefShort},
	{fHost, "shost", "", cefShort},
	{fUser, "suser", "", cefShort},
	{fHookName, "cs1", "hookName", cefShort},
	{fOnFailure, "cs2", "onFailure", cefShort},
	{fExitCode, "cn1", "exitCode", 0},
	{fTimedOut, "cn2", "timedOut", 0},
	{fTool, "cs4", "tool", cefShort},
	{fToolUseID, "cs5", "toolUseId", cefShort},
	{fSessionID, "cs6", "session", cefShort},
	{fPrev, "flexString1", "prev", cefShort},
	{fMessage, "msg", "", cefField},
	{fTarget, "hooktrailTarget", "", cefField},
	{fMCPServer, "hooktrailMcpServer", "", cefShort},
	{fPermissionMode, "hooktrailPermissionMode", "", cefShort},
	{fPromptID, "hooktrailPromptId", "", cefShort},
	{fAgentID, "hooktrailAgentId", "", cefShort},
	{fDurationMs, "hooktrailDurationMs", "", 0},
	{fDeadlineMs, "hooktrailDeadlineMs", "", 0},
	{fConfigSHA256, "hooktrailConfigSha256", "", cefShort},
	{fInputBytes, "hooktrailInputBytes", "", 0},
	{fInputHMAC, "hooktrailInputHmac", "", cefShort},
	{fInputTruncated, "hooktrailInputTruncated", "", 0},
	{fProvider, "hooktrailCheckpointProvider", "", cefShort},
	{fVM, "hooktrailCheckpointVm", "", cefShort},
	{fVPG, "hooktrailCheckpointVpg", "", cefShort},
	{fSite, "hooktrailCheckpointSite", "", cefShort},
	{fPlatform, "hooktrailCheckpointPlatform", "", cefShort},
	{fTag, "hooktrailCheckpointTag", "", cefShort},
	{fID, "hooktrailCheckpointId", "", cefShort},
	{fCheckpointTime, "hooktrailCheckpointTime", "", cefShort},
	{fState, "hooktrailCheckpointState", "", cefShort},
	{fCadenceS, "hooktrailCheckpointCadenceS", "", 0},
	{fWaitedMs, "hooktrailCheckpointWaitedMs", "", 0},
	{fEvidence, "hooktrailEvidence", "", cefShort},
	{fCommand, "hooktrailCommand", "", 2 * cefField},
	{fSchemaErrors, "hooktrailSchemaErrors", "", cefField},
	{fCWD, "hooktrailCwd", "", cefField},
	{fTranscriptPath, "hooktrailTranscriptPath", "", cefField},
	{fSchemaVersion, "hooktrailSchemaVersion", "", 0},
}

func (cef) record(dst []byte, e *Event) []byte {
	g := e.grade()
	w := cefLine{b: dst, end: len(dst) + maxCEF - len(cefTruncated)}
	name, version := e.product()
	w.b = append(w.b, "CEF:0|hooktrail|"...)
	w.header(name, 63)
	w.header(version, 31)
	if e.json[fGate] != nil {
		w.header(e.json[fGate], cefShort)
	} else {
		w.header(e.what(), cefShort)
	}
	w.header(e.what(), cefShort)
	w.b = strconv.AppendInt(w.b, int64(g.cef), 10)
	w.b = append(w.b, '|')

	w.first = true
	if ms := e.time.UnixMilli(); ms >= 0 {
		w.put("rt", strconv.AppendInt(nil, ms, 10), 0)
	} else {
		w.put("hooktrailTime", e.json[fTime], cefShort)
	}
	for i := range cefKeys {
		k := &cefKeys[i]
		v := e.json[k.field]
		switch {
		case k.field == fMessage:
			w.message(e)
			continue
		case v == nil:
			continue
		case k.field == fTimedOut:
			v = truth(v)
		}
		if w.put(k.key, v, k.limit) && k.label != "" {
			w.put(k.key+"Label", []byte(k.label), 0)
		}
		if k.field == fTarget {
			w.target(e)
		}
	}
	for _, m := range e.more {
		v := m.value
		if v[0] != '"' {
			v = quote(nil, v)
		}
		w.put("hooktrailUnmapped_"+m.name, v, cefField)
	}
	if w.cut || e.json[fTruncated] != nil {
		w.b = append(w.b, cefTruncated...)
	}
	return w.b
}

// cefTruncated says that the line, or the event before it, was cut.
const cefTruncated = " hooktrailTruncated=1"

func truth(v []byte) []byte {
	if v[0] == 't' {
		return []byte{'1'}
	}
	return []byte{'0'}
}

// A cefLine is a line that is being written; end is the last place it may reach.
type cefLine struct {
	b          []byte
	end        int
	first, cut bool
}

func (w *cefLine) header(v []byte, limit int) {
	w.text(inner(v), limit, true)
	w.b = append(w.b, '|')
}

// message puts the message and behind it the command, which has no key in the
// dictionary. Each has half the room if both are long.
func (w *cefLine) message(e *Event) {
	m, c := inner(e.json[fMessage]), inner(e.json[fCommand])
	switch {
	case len(c) == 0:
		w.put("msg", e.json[fMessage], cefField)
		return
	case len(m) == 0:
		w.put("msg", e.json[fCommand], cefField)
		return
	}
	const link = `\ncommand: `
	if !w.key("msg", cefField) {
		return
	}
	begin := len(w.b)
	w.text(m, max(cefField/2, cefField-len(link)-2*len(c)), false)
	w.b = append(w.b, link...)
	w.text(c, cefField-(len(w.b)-begin), false)
}

// target puts the target a second time, under the key of its kind.
func (w *cefLine) target(e *Event) {
	switch e.targetIs() {
	case file:
		w.put("filePath", e.json[fTarget], cefField)
	case url:
		w.put("request", e.json[fTarget], cefField)
	case other, shell, mcp, tool:
	}
}

// put writes one key with its value, JSON as the event has it, if there is room.
// A limit of 0 is for values that are short and need no escapes.
func (w *cefLine) put(key string, v []byte, limit int) bool {
	if v == nil {
		return false
	}
	if v[0] == '"' {
		v = inner(v)
	}
	if limit == 0 {
		limit = 20 // digits of an integer; labels are shorter
	}
	if !w.key(key, min(len(v), limit)) {
		return false
	}
	w.text(v, min(limit, w.end-len(w.b)), false)
	return true
}

// key begins a key if there is room for it and for n bytes of a value, or for
// what is worth to be cut.
func (w *cefLine) key(key string, n int) bool {
	const worth = 64
	if w.end-len(w.b) < len(" =")+len(key)+len("Label=")+min(n, worth)*4 {
		w.cut = true
		return false
	}
	if !w.first {
		w.b = append(w.b, ' ')
	}
	w.first = false
	w.b = append(w.b, key...)
	w.b = append(w.b, '=')
	return true
}

// text appends what stands between the quotes of a canonical JSON string, in
// CEF's escapes, and at most limit bytes of it. A cut falls between two
// characters and is marked.
func (w *cefLine) text(s []byte, limit int, header bool) {
	if len(s) <= limit && plainCEF(s) {
		w.b = append(w.b, s...)
		return
	}
	begin := len(w.b)
	mark := append(strconv.AppendInt([]byte("…[cut, "), int64(len(s)), 10), " bytes]"...)
	keep := begin
	for i := 0; i < len(s); {
		n := unit(s[i:])
		w.b = appendCEF(w.b, s[i:i+n], header)
		i += n
		if size := len(w.b) - begin; size > limit {
			w.b = append(w.b[:keep], mark...)
			w.cut = true
			return
		} else if size+len(mark) <= limit {
			keep = len(w.b)
		}
	}
}

// plainCEF tells whether no byte needs an escape anywhere.
func plainCEF(s []byte) bool {
	for _, c := range s {
		if c == '\\' || c == '=' || c == '|' {
			return false
		}
	}
	return true
}

// unit returns the length of the first character in a canonical JSON string.
func unit(s []byte) int {
	switch {
	case s[0] != '\\':
		_, n := utf8.DecodeRune(s)
		return n
	case s[1] != 'u':
		return 2
	case s[2] == 'd' && s[3] >= '8': // canonical, so the other half follows
		return 12
	}
	return 6
}

// appendCEF appends one character. \n and \r are escapes in extensions only.
func appendCEF(dst, c []byte, header bool) []byte {
	switch {
	case c[0] == '|' && header, c[0] == '=' && !header:
		return append(dst, '\\', c[0])
	case c[0] != '\\':
		return append(dst, c...)
	case c[1] == '"':
		return append(dst, '"')
	case c[1] == '\\', !header && (c[1] == 'n' || c[1] == 'r'):
		return append(dst, c...)
	}
	for len(c) > 6 {
		dst = append(append(dst, '\\'), c[:6]...)
		c = c[6:]
	}
	return append(append(dst, '\\'), c...)
}

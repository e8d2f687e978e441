package audit

import (
	"encoding/hex"
	"fmt"
	"slices"
)

// remembered is how many lines back a second copy of a line is recognised.
const remembered = 4096

// A verifier follows the chain through one file after another.
type verifier struct {
	report    Report
	head      head
	headKnown bool
	atHead    digest // hash of the line with the head's number

	file    string
	order   int
	last    bool // the file is the current log
	lineNo  int
	started bool

	seq    uint64 // of the last line in the chain
	sum    digest // its own
	where  Finding
	bad    *Finding // a line that is no event stands since then
	gaps   []gap
	recent []recent // by seq modulo its length
}

// A recent is a line that was seen not long ago.
type recent struct {
	seq uint64
	sum digest
}

// maxGaps bounds the gaps that are remembered: each line that stands behind one
// with a higher number is looked for in all of them.
const maxGaps = 1000

// A gap is a row of numbers that has not been seen.
type gap struct {
	from, to uint64
	at       Finding
	cut      bool // the line behind it says that the log was cut
}

// A digest is a SHA-256.
type digest [32]byte

// is tells whether s is d in hex.
func (d *digest) is(s []byte) bool {
	var text [64]byte
	hex.Encode(text[:], d[:])
	return string(s) == string(text[:])
}

func newVerifier() *verifier { return &verifier{recent: make([]recent, remembered)} }

func (v *verifier) begin(name string, order int, last bool) {
	v.file, v.order, v.last, v.lineNo = name, order, last, 0
	v.report.Files = append(v.report.Files, name)
}

func (v *verifier) end() {
	if v.lineNo == 0 {
		v.note(0, NoteEmpty, "the file is empty")
	}
}

func (v *verifier) at(line int, code, format string, args ...any) Finding {
	return Finding{File: v.file, Line: line, Code: code, Message: fmt.Sprintf(format, args...), order: v.order}
}

func (v *verifier) add(f Finding) {
	if len(v.report.Findings) < maxFound {
		v.report.Findings = append(v.report.Findings, f)
	} else if len(v.report.Findings) == maxFound {
		v.report.Findings = append(v.report.Findings, Finding{File: f.File, Line: f.Line, Code: NoteMore, Message: "there is more that is not listed", order: f.order})
	}
}

func (v *verifier) found(line int, code, format string, args ...any) {
	v.add(v.at(line, code, format, args...))
}

func (v *verifier) note(line int, code, format string, args ...any) {
	if len(v.report.Notes) < maxFound {
		v.report.Notes = append(v.report.Notes, v.at(line, code, format, args...))
	}
}

// line takes the next line.
func (v *verifier) line(l *verified) {
	v.lineNo++
	if l.torn && !l.ok {
		if v.last {
			v.note(v.lineNo, NoteWriting, "the last line is not whole: it is being written, or its writer died")
		} else {
			v.found(v.lineNo, FoundTorn, "the file ends in the middle of a line")
		}
		return
	}
	if l.long || !l.ok {
		code, text := FoundNotEvent, "the line is no event of this log"
		if l.long {
			code, text = FoundOversize, fmt.Sprintf("the line is longer than %d bytes", MaxLine)
		}
		f := v.at(v.lineNo, code, "%s", text)
		v.add(f)
		v.bad = &f
		return
	}
	if l.torn && !v.last {
		v.found(v.lineNo, FoundTorn, "the last line has lost its newline")
	}
	v.report.Events++
	v.follow(l)
	if v.headKnown && l.seq == v.head.seq {
		v.atHead = l.sum
	}
	v.recent[l.seq%remembered] = recent{l.seq, l.sum}
	if l.logLine {
		v.logEvent(l.text)
	}
}

// follow compares a line's place with where the chain stands.
func (v *verifier) follow(l *verified) {
	switch {
	case !v.started:
		v.start(l)
	case l.seq == v.seq+1:
		if !v.sum.is(l.prev) {
			v.edited(l.seq)
		}
		v.move(l)
	case l.seq > v.seq+1:
		from := v.seq + 1
		if v.bad != nil && l.seq == v.seq+2 {
			v.move(l) // the bad line was the missing event; that has been said
			return
		}
		g := gap{from: from, to: l.seq - 1, cut: l.logLine, at: v.at(v.lineNo, FoundDeleted, "")}
		if len(v.gaps) < maxGaps {
			v.gaps = append(v.gaps, g)
		} else {
			v.add(g.finding())
		}
		v.move(l)
	default:
		v.behind(l)
	}
}

// start takes the first line of all.
func (v *verifier) start(l *verified) {
	v.started = true
	v.report.First = l.seq
	switch {
	case l.seq == 1 && len(l.prev) > 0:
		v.found(v.lineNo, FoundEdited, "the first event names a line before it")
	case l.seq > 1 && (!l.logLine || v.lineNo > 1):
		v.found(v.lineNo, FoundDeleted, "the first lines of the file are missing: it begins with seq %d, and each file begins with an event of the log itself", l.seq)
	case l.seq > 1 && saysTruncated(l.text):
		v.found(v.lineNo, FoundTruncated, "the log was emptied before seq %d, and no file beside it holds what was in it", l.seq)
	case l.seq > 1:
		v.note(v.lineNo, NoteStart, "the chain begins with seq %d here; what was before is not in these files", l.seq)
	}
	v.move(l)
}

// saysTruncated tells whether a line of the log itself says that the log was
// cut. A file that was rotated away may be anywhere; one that was emptied in
// place is gone.
func saysTruncated(line []byte) bool {
	e, err := Decode(line)
	return err == nil && e.Action == actionTruncated
}

func (v *verifier) move(l *verified) {
	v.seq, v.sum, v.bad = l.seq, l.sum, nil
	v.where = v.at(v.lineNo, "", "")
}

// edited says that the line before this one, which has number seq, is not the
// one that this one follows.
func (v *verifier) edited(seq uint64) {
	f := v.where
	f.Code = FoundEdited
	f.Message = fmt.Sprintf("the line (seq %d) is not the one that was written: its SHA-256 is not the prev of seq %d in %s:%d", v.seq, seq, v.file, v.lineNo)
	v.add(f)
}

// behind takes a line whose number is not higher than one before it.
func (v *verifier) behind(l *verified) {
	seq := l.seq
	for i := range v.gaps {
		g := &v.gaps[i]
		if seq < g.from || seq > g.to {
			continue
		}
		v.found(v.lineNo, FoundSwapped, "seq %d stands behind seq %d", seq, v.seq)
		if len(v.gaps) >= maxGaps {
			return // too many to be exact about what is still missing
		}
		rest := gap{from: seq + 1, to: g.to, at: g.at, cut: g.cut}
		g.to = seq - 1
		v.gaps = append(v.gaps, rest)
		v.gaps = slices.DeleteFunc(v.gaps, func(g gap) bool { return g.from > g.to })
		return
	}
	switch known := v.recent[seq%remembered]; {
	case known.seq == seq && known.sum == l.sum:
		v.found(v.lineNo, FoundDuplicated, "seq %d stands there a second time", seq)
	case known.seq != seq:
		v.found(v.lineNo, FoundForked, "seq %d stands behind seq %d: the line was inserted, or a file belongs to another chain", seq, v.seq)
	default:
		v.found(v.lineNo, FoundForked, "seq %d stands there a second time with other content: one of the two was inserted", seq)
		if seq == v.seq {
			v.move(l) // the later one may be the one that the chain follows
		}
	}
}

// logEvent notes what the log says of itself.
func (v *verifier) logEvent(line []byte) {
	e, err := Decode(line)
	if err != nil {
		return
	}
	switch e.Action {
	case actionTruncated, actionRecovered, actionFailing:
		v.note(v.lineNo, NoteLog, "%s: %s", e.Action, e.Message)
	}
	if n := len(v.gaps); n > 0 && v.gaps[n-1].to+1 == e.Seq {
		v.gaps[n-1].cut = e.Action == actionTruncated
	}
}

// checkHead compares the end of the chain with what the head file remembers.
func (v *verifier) checkHead(path string) {
	h := v.head
	switch {
	case !v.headKnown:
		v.note(0, NoteHead, "there is no readable head file %s.head, so a cut end would not be seen here", path)
	case h.seq > v.seq:
		f := v.where
		if f.File == "" {
			f = v.at(0, "", "")
		}
		f.Code = FoundTruncated
		f.Message = fmt.Sprintf("the log ends with seq %d, but the head file remembers seq %d (SHA-256 %s)", v.seq, h.seq, h.hash)
		v.add(f)
	case h.seq > 0 && v.atHead != digest{} && !v.atHead.is([]byte(h.hash)):
		f := v.where
		f.Code = FoundEdited
		f.Message = fmt.Sprintf("seq %d is not the line that the head file remembers (SHA-256 %s)", h.seq, h.hash)
		v.add(f)
	}
}

func (g *gap) finding() Finding {
	f := g.at
	f.Message = fmt.Sprintf("seq %d to %d are missing before this line", g.from, g.to)
	if g.from == g.to {
		f.Message = fmt.Sprintf("seq %d is missing before this line", g.from)
	}
	if g.cut {
		f.Code = FoundTruncated
		f.Message += ": the log was cut here"
	}
	return f
}

func (v *verifier) finish() *Report {
	for _, g := range v.gaps {
		v.add(g.finding())
	}
	slices.SortStableFunc(v.report.Findings, func(a, b Finding) int {
		if a.order != b.order {
			return a.order - b.order
		}
		return a.Line - b.Line
	})
	if v.report.Last = v.seq; v.started {
		v.report.LastHash = hex.EncodeToString(v.sum[:])
	}
	return &v.report
}

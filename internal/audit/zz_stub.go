// Delete this file once the log itself is here: it only lets others compile.
package audit

import (
	"context"
	"time"
)

type Options struct {
	Path                string
	LockTimeout         time.Duration
	RotateBytes         *int64
	KeepFiles           int
	KeyFile             string
	Host, User, Product string
	Now                 func() time.Time
}
type Log struct{ o Options }

func New(o Options) (*Log, error)                                 { return &Log{o}, nil }
func (l *Log) Record(ctx context.Context, events ...*Event) error { return nil }
func (l *Log) Digest([]byte) string                               { return "" }
func (l *Log) Path() string                                       { return l.o.Path }
func Redact(s string) string                                      { return s }
func Text(s string, n int) string                                 { return s }
func Printable(s string) string                                   { return s }

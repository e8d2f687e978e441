package serve

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"hooktrail/internal/audit"
	"hooktrail/internal/ship"
)

// maxSeries bounds the series made from what stands in the log: a log that
// somebody else wrote must not fill the memory.
const maxSeries = 2000

// Metrics are the numbers of a server, in the Prometheus text format. Several
// goroutines may use them at once.
type Metrics struct {
	set *metrics.Set

	mu     sync.Mutex
	series map[string]bool
}

// NewMetrics returns Metrics with nothing counted.
func NewMetrics() *Metrics {
	return &Metrics{set: metrics.NewSet(), series: map[string]bool{}}
}

// Event counts an event of the log, whichever process wrote it.
func (m *Metrics) Event(e ship.Meta) {
	if e.Reason == "audit_unavailable" {
		m.AuditFailure()
	}
	if e.Kind != "invocation" {
		m.count(fmt.Sprintf(`hooktrail_events_total{kind=%q,layer=%q,decision=%q,reason=%q,gate=%q}`,
			word(e.Kind), word(e.Layer), word(e.Decision), word(e.Reason), word(e.Gate)))
		return
	}
	m.count(fmt.Sprintf(`hooktrail_invocations_total{layer=%q,decision=%q,reason=%q,gate=%q}`,
		word(e.Layer), word(e.Decision), word(e.Reason), word(e.Gate)))
	if e.DurationMs >= 0 {
		m.set.GetOrCreatePrometheusHistogramExt("hooktrail_invocation_duration_seconds", buckets()).Update(float64(e.DurationMs) / 1000)
	}
}

// Counting returns log with its failures counted: what could not be recorded
// stands in no log.
func (m *Metrics) Counting(log Recorder) Recorder { return counting{log, m} }

type counting struct {
	Recorder
	m *Metrics
}

func (c counting) Record(ctx context.Context, events ...*audit.Event) error {
	err := c.Recorder.Record(ctx, events...)
	if err != nil {
		c.m.AuditFailure()
	}
	return err
}

// AuditFailure counts a decision that could not be recorded.
func (m *Metrics) AuditFailure() { m.set.GetOrCreateCounter("hooktrail_audit_failures_total").Inc() }

// Gauge shows a number that is asked for when it is read.
func (m *Metrics) Gauge(name string, value func() float64) { m.set.GetOrCreateGauge(name, value) }

// Write writes all numbers.
func (m *Metrics) Write(w io.Writer) { m.set.WritePrometheus(w) }

// refused counts a call that did not come to the flow.
func (m *Metrics) refused(why string) {
	m.set.GetOrCreateCounter(fmt.Sprintf("hooktrail_http_refused_total{why=%q}", why)).Inc()
}

func (m *Metrics) answered(took time.Duration, blocked bool) {
	m.set.GetOrCreateCounter(fmt.Sprintf("hooktrail_http_answers_total{blocked=\"%t\"}", blocked)).Inc()
	m.set.GetOrCreatePrometheusHistogramExt("hooktrail_http_duration_seconds", buckets()).Update(took.Seconds())
}

func (m *Metrics) count(series string) {
	m.mu.Lock()
	known := m.series[series]
	if !known && len(m.series) < maxSeries {
		m.series[series] = true
		known = true
	}
	m.mu.Unlock()
	if !known {
		series = "hooktrail_events_uncounted_total"
	}
	m.set.GetOrCreateCounter(series).Inc()
}

// word lets only what the words of our own look like become a label.
func word(s string) string {
	if len(s) > 40 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return "other"
	}
	return s
}

// buckets are the bounds of the histograms, in seconds: a disk's sync is a few
// milliseconds, a checkpoint minutes.
func buckets() []float64 {
	return []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 150}
}

// Shipping shows what shipping has done, as its cursor tells.
func (m *Metrics) Shipping(o ship.Options) {
	for name, value := range map[string]func(ship.Cursor) float64{
		"hooktrail_ship_acked_total":      func(c ship.Cursor) float64 { return float64(c.Acked) },
		"hooktrail_ship_shortened_total":  func(c ship.Cursor) float64 { return float64(c.Shortened) },
		"hooktrail_ship_dropped_total":    func(c ship.Cursor) float64 { return float64(c.Left) },
		"hooktrail_ship_unreadable_total": func(c ship.Cursor) float64 { return float64(c.Unreadable) },
		"hooktrail_ship_failed_attempts":  func(c ship.Cursor) float64 { return float64(c.Trouble.Fails) },
	} {
		m.Gauge(name, func() float64 { return value(ship.ReadCursor(o)) })
	}
}

package export

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/stretchr/testify/require"

	"hooktrail/internal/audit"
)

// The judges below know the formats from their standards, and share nothing with
// the code that writes.

// ocsfSchema compiles the schema of our two classes once.
var ocsfSchema = sync.OnceValue(func() *jsonschema.Schema {
	return jsonschema.MustCompile("testdata/ocsf-1.8.0.schema.json")
})

func checkOCSF(t testing.TB, record string) map[string]any {
	v := decode(t, record)
	if err := ocsfSchema().Validate(v); err != nil {
		require.NoError(t, fmt.Errorf("%#v: %s", err, record)) //nolint:errorlint // the library shows its causes with %#v
	}
	return v
}

// ecsFields are the fields that we write, of ECS 9.4 (elastic/ecs, generated
// field list): keyword and other texts "s", long "n", lists "[]". A "|" list has
// the allowed values.
var ecsFields = map[string]string{
	"@timestamp": "s", "message": "s", "ecs.version": "9.4.0",
	"event.kind":     "alert|event",
	"event.category": "[]api|configuration|file|host|process|session|web",
	"event.type":     "[]allowed|change|denied|error|info",
	"event.outcome":  "failure|success|unknown",
	"event.action":   "s", "event.reason": "s", "event.id": "s", "event.sequence": "n", "event.code": "s", "event.provider": "s",
	"event.module": "s", "event.dataset": "s", "event.severity": "n", "event.duration": "n",
	"host.name": "s", "user.name": "s", "related.hosts": "[]", "related.user": "[]",
	"process.command_line": "s", "process.working_directory": "s", "process.exit_code": "n",
	"file.path": "s", "url.full": "s", "rule.name": "s", "rule.ruleset": "s", "error.message": "s",
	"gen_ai.agent.id": "s", "gen_ai.operation.name": "s", "gen_ai.tool.name": "s", "gen_ai.tool.call.id": "s",
	"observer.type": "s", "observer.product": "s", "observer.version": "s",
}

// maxKeyword is the longest keyword that Lucene takes, in bytes.
const maxKeyword = 32766

func checkECS(t testing.TB, record string) map[string]any {
	flat := map[string]any{}
	flatten("", decode(t, record), flat)
	for _, must := range []string{"@timestamp", "ecs.version", "event.kind", "event.category", "event.type", "event.outcome", "event.id"} {
		require.Contains(t, flat, must)
	}
	for name, v := range flat {
		want, known := ecsFields[name]
		if strings.HasPrefix(name, "labels.") {
			want, known = "s", true
			require.Equal(t, 1, strings.Count(name, "."), "labels are flat: %s", name)
		}
		require.True(t, known, "ECS has no field %s", name)
		values := []any{v}
		allowed, list := strings.CutPrefix(want, "[]")
		if list {
			require.IsType(t, []any{}, v, "%s", name)
			values = v.([]any)
		}
		for _, v := range values {
			if want == "n" {
				require.IsType(t, json.Number(""), v, "%s", name)
				_, err := strconv.ParseInt(string(v.(json.Number)), 10, 64)
				require.NoError(t, err, "%s", name)
				continue
			}
			require.IsType(t, "", v, "%s", name)
			require.LessOrEqual(t, len(v.(string)), maxKeyword, "%s", name)
			if allowed != "s" && allowed != "" {
				require.Contains(t, strings.Split(allowed, "|"), v, "%s", name)
			}
		}
	}
	return flat
}

func flatten(prefix string, v map[string]any, to map[string]any) {
	for k, x := range v {
		if m, ok := x.(map[string]any); ok {
			flatten(prefix+k+".", m, to)
		} else {
			to[prefix+k] = x
		}
	}
}

// An anyValue is OTLP's AnyValue in protobuf's JSON: 64 bits are a string.
type anyValue struct {
	String *string  `json:"stringValue"`
	Int    *string  `json:"intValue"`
	Bool   *bool    `json:"boolValue"`
	Double *float64 `json:"doubleValue"`
	Array  *struct {
		Values []anyValue `json:"values"`
	} `json:"arrayValue"`
}

type keyValue struct {
	Key   string   `json:"key"`
	Value anyValue `json:"value"`
}

type logRecord struct {
	Time         string     `json:"timeUnixNano"`
	ObservedTime string     `json:"observedTimeUnixNano"`
	Severity     int        `json:"severityNumber"`
	SeverityText string     `json:"severityText"`
	Body         anyValue   `json:"body"`
	Attributes   []keyValue `json:"attributes"`
}

type logsRequest struct {
	ResourceLogs []struct {
		Resource struct {
			Attributes []keyValue `json:"attributes"`
		} `json:"resource"`
		ScopeLogs []struct {
			Scope struct {
				Name string `json:"name"`
			} `json:"scope"`
			LogRecords []logRecord `json:"logRecords"`
		} `json:"scopeLogs"`
	} `json:"resourceLogs"`
}

// value returns the one value that is set.
func (a anyValue) value(t testing.TB) any {
	var all []any
	if a.String != nil {
		all = append(all, *a.String)
	}
	if a.Int != nil {
		n, err := strconv.ParseInt(*a.Int, 10, 64)
		require.NoError(t, err)
		all = append(all, n)
	}
	if a.Bool != nil {
		all = append(all, *a.Bool)
	}
	if a.Double != nil {
		all = append(all, *a.Double)
	}
	if a.Array != nil {
		var texts []any
		for _, v := range a.Array.Values {
			texts = append(texts, v.value(t))
		}
		all = append(all, texts)
	}
	require.Len(t, all, 1, "a value has one type")
	return all[0]
}

// checkOTLP returns the records of one line, each as its attributes, and body,
// severity and the resource's attributes under names with a slash.
func checkOTLP(t testing.TB, line string) []map[string]any {
	decode(t, line)
	d := json.NewDecoder(strings.NewReader(line))
	d.DisallowUnknownFields()
	var r logsRequest
	require.NoError(t, d.Decode(&r), "%s", line)
	require.Len(t, r.ResourceLogs, 1)
	require.Len(t, r.ResourceLogs[0].ScopeLogs, 1)
	var all []map[string]any
	for _, rec := range r.ResourceLogs[0].ScopeLogs[0].LogRecords {
		texts := map[int]string{9: "INFO", 13: "WARN", 17: "ERROR", 21: "FATAL"}
		m := map[string]any{"/severity": rec.Severity, "/body": rec.Body.value(t)}
		require.NotEmpty(t, rec.SeverityText)
		require.Equal(t, texts[rec.Severity], rec.SeverityText)
		if rec.Time != "" {
			_, err := strconv.ParseUint(rec.Time, 10, 64)
			require.NoError(t, err)
			require.Equal(t, rec.Time, rec.ObservedTime)
			m["/time"] = rec.Time
		}
		for _, a := range rec.Attributes {
			require.NotContains(t, m, a.Key, "twice")
			m[a.Key] = a.Value.value(t)
		}
		for _, a := range r.ResourceLogs[0].Resource.Attributes {
			m["/"+a.Key] = a.Value.value(t)
		}
		all = append(all, m)
	}
	require.NotEmpty(t, all)
	return all
}

var (
	labelled = regexp.MustCompile(`^(cs|cn|flexString)[0-9]$`)
	aKey     = regexp.MustCompile(`^[A-Za-z0-9_]+$`)
)

// checkCEF parses one line: its header as "/0" to "/6", and its extension with
// labelled values under their labels.
func checkCEF(t testing.TB, line string) map[string]string {
	require.LessOrEqual(t, len(line), 7680)
	require.True(t, utf8.ValidString(line))
	require.Equal(t, line, audit.Printable(line), "something is raw in the line")
	m := map[string]string{}
	rest := line
	for i := range 7 {
		var part strings.Builder
		end := -1
		for j := 0; j < len(rest) && end < 0; j++ {
			switch rest[j] {
			case '|':
				end = j
			case '\\':
				j++
				require.Less(t, j, len(rest))
				require.Contains(t, `\|`, rest[j:j+1], "an escape of the header: %q", line)
				part.WriteByte(rest[j])
			default:
				part.WriteByte(rest[j])
			}
		}
		require.GreaterOrEqual(t, end, 0, "the header is short: %q", line)
		m["/"+strconv.Itoa(i)], rest = part.String(), rest[end+1:]
	}
	require.Equal(t, "CEF:0", m["/0"])
	severity, err := strconv.Atoi(m["/6"])
	require.NoError(t, err)
	require.True(t, severity >= 0 && severity <= 10)

	for key, raw := range extension(t, rest) {
		value := unescape(t, raw)
		require.NotEmpty(t, value, "%s in %q", key, line)
		m[key] = value
	}
	for key, label := range m {
		if of, ok := strings.CutSuffix(key, "Label"); ok {
			require.Contains(t, m, of)
			m[label] = m[of]
		} else if labelled.MatchString(key) {
			require.Contains(t, m, key+"Label")
		}
	}
	return m
}

// extension splits at the keys: an equals sign that is not escaped has one
// before it.
func extension(t testing.TB, s string) map[string]string {
	m := map[string]string{}
	key, from := "", 0
	put := func(to int) {
		if key != "" {
			require.NotContains(t, m, key, "twice")
			m[key] = s[from:to]
		}
	}
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
			continue
		}
		if s[i] != '=' {
			continue
		}
		begin := strings.LastIndexByte(s[:i], ' ') + 1
		require.True(t, aKey.MatchString(s[begin:i]), "no key: %q", s[begin:i])
		put(max(begin-1, 0))
		key, from = s[begin:i], i+1
	}
	put(len(s))
	return m
}

func unescape(t testing.TB, s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		require.Less(t, i, len(s), "half an escape: %q", s)
		switch s[i] {
		case '\\', '=':
			b.WriteByte(s[i])
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		default:
			require.Fail(t, "no escape of CEF", "%q", s)
		}
	}
	return b.String()
}

// shown is a text as CEF shows it: line ends as they are, and the rest of what
// is not shown raw as escapes.
func shown(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch r {
		case '\n', '\r':
			b.WriteRune(r)
		case '\b':
			b.WriteString(`\b`)
		case '\f':
			b.WriteString(`\f`)
		default:
			b.WriteString(audit.Printable(string(r)))
		}
	}
	return b.String()
}

package zerto

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	// margin is how much earlier than needed a list is read from: clocks drift,
	// and stamps are whole seconds.
	margin = 2 * time.Minute
	// wide is the margin of every fourth look: the stamps of a journal may be
	// those of another site's clock. What is stamped earlier than that is not ours.
	wide = time.Hour
)

// checkpoints lists the journal of a group from since, by the ZVM's clock. The
// start is never left out: at one entry every 5 s a journal of days is long. It
// carries a Z, without which a ZVM reads it as its own local time.
func (c *client) checkpoints(ctx context.Context, vpg string, since time.Time) ([]checkpointRow, error) {
	path := checkpointsPath(vpg)
	rows, err := getList[checkpointRow](ctx, c, path, url.Values{"startDate": {since.UTC().Format("2006-01-02T15:04:05Z")}})
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		if r.id() == "" && r.Tag == "" && r.TimeStamp.IsZero() {
			return nil, &callError{op: "GET " + path, status: http.StatusOK, shape: true, err: errors.New("a row of the list is no checkpoint")}
		}
	}
	return rows, nil
}

func checkpointsPath(vpg string) string {
	return "/v1/vpgs/" + url.PathEscape(vpg) + "/checkpoints"
}

// listed finds the newest checkpoint with the exact tag that was asked for at
// since. Nothing less is proof.
func listed(rows []checkpointRow, tag string, since time.Time) *checkpointRow {
	var found *checkpointRow
	for i := range rows {
		r := &rows[i]
		if string(r.Tag) != tag || !r.TimeStamp.IsZero() && r.TimeStamp.Before(since.Add(-wide)) {
			continue
		}
		if found == nil || r.TimeStamp.After(found.TimeStamp.Time) {
			found = r
		}
	}
	return found
}

// cutTag finds an entry whose tag is the beginning of ours: the ZVM may have
// shortened it. It is no proof, but worth a sentence.
func cutTag(rows []checkpointRow, tag string) string {
	for i := range rows {
		if t := string(rows[i].Tag); len(t) >= 12 && len(t) < len(tag) && strings.HasPrefix(tag, t) {
			return t
		}
	}
	return ""
}

// newTag returns a name that nobody else uses. Letters, digits and hyphens pass
// every version.
func newTag(prefix string, now time.Time) string {
	return prefix + "-" + now.UTC().Format("20060102T150405Z") + "-" + strings.ToLower(rand.Text()[:10])
}

// A fate is what became of the one request for a tag.
type fate int

const (
	unsure  fate = iota // it may have been taken: only the list can tell
	taken               // the ZVM has a task for it
	refused             // it was not taken
	unsent              // it never left this machine
)

// ask asks for a tag, once.
func (c *client) ask(ctx context.Context, vpg, tag string) (task string, f fate, err error) {
	body, err := json.Marshal(map[string]string{"checkpointName": tag})
	if err != nil {
		return "", unsent, err
	}
	b, err := c.post(ctx, checkpointsPath(vpg), body)
	if err == nil {
		return taskID(b), taken, nil
	}
	var ce *callError
	if !errors.As(err, &ce) {
		return "", unsure, err
	}
	switch {
	case ce.login || !ce.sent:
		return "", unsent, err
	case ce.status == 0:
		return "", unsure, err
	case ce.status == http.StatusRequestTimeout, ce.status == http.StatusGatewayTimeout, ce.shape && (ce.status >= 500 || ce.status < 300):
		// A gateway speaks of what it saw, not of what the ZVM did.
		return "", unsure, err
	}
	return "", refused, err
}

// taskID reads the bare JSON string that answers a request. An answer of another
// form is an accepted request all the same.
func taskID(b []byte) string {
	v := jsontext.Value(b)
	if v.Kind() != '"' {
		return ""
	}
	var s text
	if decode(b, &s) != nil || !pathSafe(string(s)) {
		return ""
	}
	return string(s)
}

// A progress is what a task says.
type progress int

const (
	running progress = iota // or gone, or not to be read: it says nothing
	done
	broken
)

// task asks after a task. Only a task that failed says something for sure.
func (c *client) task(ctx context.Context, id string) (progress, string) {
	var t taskRow
	if c.get(ctx, "/v1/tasks/"+url.PathEscape(id), nil, &t) != nil {
		return running, ""
	}
	switch n := t.Status.State; {
	case n.number == 6 || strings.EqualFold(n.name, "Completed"):
		return done, ""
	case n.number == 4 || strings.EqualFold(n.name, "Failed"):
		return broken, cmp.Or(c.show([]byte(t.CompleteReason)), "the task failed")
	case n.number == 5 || strings.EqualFold(n.name, "Stopped"):
		return broken, cmp.Or(c.show([]byte(t.CompleteReason)), "the task was stopped")
	}
	return running, ""
}

// serverTime returns how far the ZVM's clock is ahead of ours. It only places
// the window of the lists, so the Date of any answer will do.
func (c *client) serverTime(ctx context.Context) time.Duration {
	ctx, cancel := context.WithTimeout(ctx, c.clock.real(min(5*time.Second, c.clock.left(ctx)/4)))
	defer cancel()
	var s stamp
	err := c.get(ctx, "/v1/serverDateTime/serverDateTimeUtc", nil, &s)
	now := c.clock.now()
	if err == nil && !s.IsZero() {
		return s.Sub(now)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.lastDate.IsZero() {
		return c.lastDate.Sub(c.lastSeen)
	}
	return 0
}

// site reads the protected site that a link points to.
func (c *client) site(ctx context.Context, l link) (siteRow, error) {
	var s siteRow
	id := l.id()
	peer := strings.EqualFold(string(l.Type), "PeerSiteApi")
	if !peer {
		err := c.get(ctx, "/v1/localsite", nil, &s)
		if err != nil || id == "" || strings.EqualFold(string(l.Type), "LocalSiteApi") || strings.EqualFold(s.id(), id) {
			return s, err
		}
	}
	if !pathSafe(id) {
		return siteRow{}, errors.New("the group's link names no site")
	}
	s = siteRow{}
	err := c.get(ctx, "/v1/peersites/"+url.PathEscape(id), nil, &s)
	return s, err
}

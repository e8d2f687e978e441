package zerto

import (
	"context"
	"fmt"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/reason"
	"hooktrail/internal/zerto/zertotest"
)

// fixed45 is the rule of the hook that this provider replaces: ask, look for 45
// seconds, and call what has not appeared by then a failure.
func fixed45(ctx context.Context, p *Provider, vpg string) bool {
	tag := newTag("old", p.clock.now())
	if _, fate, _ := p.client.ask(ctx, vpg, tag); fate != taken {
		return false
	}
	for start := p.clock.now(); p.clock.now().Sub(start) < 45*time.Second; {
		rows, err := p.client.checkpoints(ctx, vpg, start.Add(-margin))
		if err == nil && listed(rows, tag, start) != nil {
			return true
		}
		if p.clock.sleep(ctx, time.Second) != nil {
			return false
		}
	}
	return false
}

// TestPlatformsAndBudgets is the point of the package: at every budget a tag is
// confirmed, or honestly unconfirmed, and the retry uses the same tag.
func TestPlatformsAndBudgets(t *testing.T) {
	const (
		confirmed   = reason.Code("guard_checkpoint_confirmed")
		unconfirmed = reason.Code("guard_checkpoint_unconfirmed")
	)
	for _, tt := range []struct {
		site    string
		latency time.Duration
		budget  time.Duration
		want    reason.Code
		within  time.Duration // the answer takes at most this long
		old     bool          // what the fixed 45 s said
	}{
		{"VCenter", 4 * time.Second, 20 * time.Second, confirmed, 6 * time.Second, true},
		{"VCenter", 4 * time.Second, 60 * time.Second, confirmed, 6 * time.Second, true},
		{"VCenter", 4 * time.Second, 150 * time.Second, confirmed, 6 * time.Second, true},
		{"Azure", 34 * time.Second, 20 * time.Second, unconfirmed, 3 * time.Second, true},
		{"Azure", 34 * time.Second, 60 * time.Second, confirmed, 40 * time.Second, true},
		{"Azure", 34 * time.Second, 150 * time.Second, confirmed, 40 * time.Second, true},
		{"Azure", 58 * time.Second, 150 * time.Second, confirmed, 64 * time.Second, false},
		{"AWS", 128 * time.Second, 20 * time.Second, unconfirmed, 3 * time.Second, false},
		{"AWS", 128 * time.Second, 60 * time.Second, unconfirmed, 3 * time.Second, false},
		{"AWS", 128 * time.Second, 150 * time.Second, confirmed, 134 * time.Second, false},
		{"AWS", 400 * time.Second, 150 * time.Second, unconfirmed, 150 * time.Second, false},
		{"never heard of", 20 * time.Second, 60 * time.Second, unconfirmed, 60 * time.Second, true},
	} {
		t.Run(fmt.Sprintf("%s %s in %s", tt.site, tt.latency, tt.budget), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := cloud(tt.site)
				w.Groups[0].Latency = tt.latency
				if tt.site == "never heard of" {
					w.Groups[0].Cadence = 90 * time.Second
				}
				l := newLab(t, w)
				start := time.Now()
				out := l.protect(tt.budget, "app01")
				require.Equal(t, tt.want, out.Code, out.Message)
				require.LessOrEqual(t, time.Since(start), tt.within)
				require.Len(t, l.tags(), 1)
				require.Equal(t, l.tags()[0], out.Checkpoints[0].Tag)

				if tt.want == unconfirmed {
					require.Equal(t, "requested", joined(l.actions()))
					require.Positive(t, out.RetryAfter)
					require.Contains(t, out.Message, l.tags()[0])
					// As often as the answer says, and until the tag has landed.
					for out.Code == unconfirmed {
						require.Less(t, time.Since(start), 2*tt.latency+5*time.Minute)
						time.Sleep(out.RetryAfter)
						out = l.protect(tt.budget, "app01")
					}
					require.Equal(t, confirmed, out.Code, out.Message)
					require.Equal(t, "requested late confirmed", joined(l.actions()))
				} else {
					require.Equal(t, "requested confirmed", joined(l.actions()))
				}
				require.Len(t, l.tags(), 1, "no second request")
				require.Contains(t, out.Context, l.tags()[0])
				require.Contains(t, out.Context, `"app01"`)
				require.Contains(t, out.Context, `"Group 1"`)
				require.Contains(t, out.Context, out.Checkpoints[0].ID)
				require.Contains(t, out.Context, out.Checkpoints[0].Time.Format(time.RFC3339))

				// A change was let through: that tag is used up.
				out = l.protect(tt.budget, "app01")
				require.Len(t, l.tags(), 2, "the next call asks anew: %s", out.Message)
			})
			synctest.Test(t, func(t *testing.T) {
				w := cloud(tt.site)
				w.Groups[0].Latency = tt.latency
				l := newLab(t, w)
				require.Equal(t, tt.old, fixed45(t.Context(), l.p, "g1"), "the fixed 45 s")
			})
		})
	}
}

func TestRenewsShortTokensWithFewLogins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := one(zertotest.Group{Latency: 8 * time.Second})
		w.Knobs.TokenTTL = 3 * time.Second
		l := newLab(t, w)
		out := l.protect(25*time.Second, "app01")
		require.Equal(t, reason.GuardCheckpointConfirmed, out.Code, out.Message)
		require.Len(t, l.tags(), 1)
		require.LessOrEqual(t, l.z.Logins(), 6)
		for _, r := range l.z.Requests() {
			q, err := url.ParseQuery(r.Query)
			require.NoError(t, err)
			if q.Has("startDate") {
				require.Regexp(t, `Z$`, q.Get("startDate"))
			}
		}
	})
}

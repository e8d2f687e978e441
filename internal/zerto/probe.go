package zerto

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// A Fact is what a live ZVM says to a question that no documentation answers.
type Fact struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
	// Doubt is set when the answer needs a person: the guard may have to wait
	// without knowing how long, or will refuse.
	Doubt bool `json:"doubt"`
}

// probeGroups is how many groups Probe looks at.
const probeGroups = 30

// Probe asks the ZVM what the guard has to know of it. It changes nothing and
// asks for no checkpoint. The error says that the ZVM cannot be asked at all.
func (p *Provider) Probe(ctx context.Context) ([]Fact, error) {
	c := p.client
	var facts []Fact
	say := func(doubt bool, question, answer string, args ...any) {
		facts = append(facts, Fact{Question: question, Answer: printable(fmt.Sprintf(answer, args...)), Doubt: doubt})
	}
	for _, w := range p.warnings {
		say(true, "Whom does the provider trust?", "%s", w)
	}
	var local siteRow
	if err := c.get(ctx, "/v1/localsite", nil, &local); err != nil {
		return facts, err
	}
	c.mu.Lock()
	life := c.life
	c.mu.Unlock()
	say(life < 10*time.Second, "How long does a login last?", "%s", span(life))
	skew := c.serverTime(ctx)
	say(skew.Abs() > time.Minute, "How far is the ZVM's clock from ours?", "%s", skew.Round(time.Millisecond))

	sites := []siteRow{local}
	peers, err := getList[siteRow](ctx, c, "/v1/peersites", nil)
	if err != nil {
		say(true, "Which peer sites are there?", "cannot be read: %v", err)
	}
	for _, s := range append(sites, peers...) {
		pl := platformOf(string(s.SiteType), string(s.RegionName))
		say(pl == unknownPlace || pl == otherCloud, "What platform is site "+quote(s.name())+"?", "SiteType %s, read as %s", quote(string(s.SiteType)), pl)
	}
	p.probeMachines(ctx, say)
	var names []text
	if err := c.get(ctx, "/v1/vpgs/statuses", nil, &names); err == nil && len(names) > 4 {
		say(false, "What do the states 3 and 4 mean?", "%s, %s", names[3], names[4])
	}
	p.probeGroups(ctx, skew, say)
	return facts, nil
}

type sayer = func(doubt bool, question, answer string, args ...any)

func (p *Provider) probeMachines(ctx context.Context, say sayer) {
	f := finder{c: p.client}
	rows, err := f.list(ctx, nil)
	if err != nil {
		say(true, "Which machines are protected?", "cannot be read: %v", err)
		return
	}
	say(len(rows) == 0, "How many machines are protected?", "%d (machine and group)", len(rows))
	const nobody = "hooktrail-doctor-asks-for-nobody"
	some, err := f.list(ctx, url.Values{"vmIdentifier": {nobody}})
	if err == nil {
		say(false, "What becomes of an identifier that nobody has?", "an answer with %d machines", len(some))
	} else {
		say(!notFound(err, nobody), "What becomes of an identifier that nobody has?", "%v", err)
	}
	for _, r := range rows {
		if n := string(r.VmName); len(n) > 3 && !strings.Contains(n, " ") {
			some, err := f.list(ctx, url.Values{"vmName": {n[:len(n)-1]}})
			say(err != nil && !notFound(err, n), "Does the filter by name take a part of a name?", "%s", map[bool]string{true: "yes", false: "no"}[err == nil && len(some) > 0])
			return
		}
	}
}

func (p *Provider) probeGroups(ctx context.Context, skew time.Duration, say sayer) {
	c := p.client
	groups, err := getList[vpgRow](ctx, c, "/v1/vpgs", nil)
	if err != nil {
		say(true, "Which groups are there?", "cannot be read: %v", err)
		return
	}
	if len(groups) > probeGroups {
		say(false, "How many groups are there?", "%d, of which the first %d follow", len(groups), probeGroups)
		groups = groups[:probeGroups]
	}
	type seen struct {
		state    string
		fitness  fitness
		platform platform
		cadence  time.Duration
		err      error
	}
	all := make([]seen, len(groups))
	each(len(groups), few, func(i int) {
		g, s := &groups[i], &all[i]
		s.fitness, s.state = judge(g.Status, g.SubStatus, g.ActualRPO)
		id := string(g.VpgIdentifier)
		if id == "" {
			id = g.Link.id()
		}
		if !pathSafe(id) {
			s.err = errors.New("it has no usable identifier")
			return
		}
		site, _ := c.site(ctx, g.ProtectedSite)
		s.platform = platformOf(string(site.SiteType), string(site.RegionName))
		rows, err := c.checkpoints(ctx, id, p.clock.now().Add(skew-s.platform.window()))
		s.cadence, s.err = measure(rows), err
	})
	for i, s := range all {
		q := "Can group " + quote(string(groups[i].VpgName)) + " be tagged, and how fast is its journal?"
		pc := pace{platform: s.platform, measured: s.cadence}
		switch {
		case s.err != nil:
			say(true, q, "state %s; the list of checkpoints cannot be read: %v", s.state, s.err)
		case s.fitness == unfit:
			say(true, q, "no: its state is %s", s.state)
		case pc.expected() == 0:
			say(true, q, "state %s, platform %s; the cadence is not known", s.state, s.platform)
		default:
			say(s.fitness != fit, q, "state %s, platform %s, a checkpoint every %s, a tag expected after %s", s.state, s.platform, span(pc.cadence()), span(pc.expected()))
		}
	}
}

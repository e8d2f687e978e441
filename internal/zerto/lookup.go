package zerto

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"hooktrail/internal/guard"
	"hooktrail/internal/reason"
)

// A machine is a VM that Zerto protects, with its groups.
type machine struct {
	name   string // as Zerto shows it
	id     string
	groups []membership
	// unsure is set when a namesake that no group protects cannot be ruled out.
	unsure bool
}

// A membership is one row of the list of VMs.
type membership struct {
	vpg         string // identifier
	name        string // of the group
	site        link
	siteAs      string // the protected site's name
	status, sub enum
	rpo         *float64
}

// A miss says why there is no machine to protect. Its code is one of
// GuardVMUnknown, GuardVMUnprotected, GuardVMAmbiguous and GuardLookupFailed.
type miss struct {
	code    reason.Code
	message string
	retry   time.Duration
	// groups that a person who lets the call pass would change.
	groups []string
}

// A finder looks up the machines of one call. What it has read once is shared
// by the machines of the call.
type finder struct {
	c         *client
	all       memo[[]vmRow]
	unguarded memo[[]unprotectedRow]
}

// find returns the machine that vm names, or why not.
func (f *finder) find(ctx context.Context, vm guard.VM) (*machine, *miss) {
	if !askable(vm.Ref) {
		return nil, &miss{code: reason.GuardVMUnknown, message: fmt.Sprintf("%s cannot be the name of one machine, so Zerto was not asked for it", quote(vm.Ref))}
	}
	rows, err := f.rows(ctx, vm)
	if err != nil && !notFound(err, vm.Ref) {
		return nil, lookupFailed(fmt.Sprintf("look up the machine %s", quote(vm.Ref)), err)
	}
	var hits []vmRow
	for _, r := range rows {
		if matches(vm, string(r.VmName), r.id(), r.instance()) {
			hits = append(hits, r)
		}
	}
	others, otherErr := f.unguardedNamesakes(ctx, vm)
	if len(hits) == 0 {
		return nil, unprotected(vm, others, otherErr)
	}
	m, no := choose(vm, hits, others)
	if m != nil {
		m.unsure = otherErr != nil
	}
	return m, no
}

// rows asks for the rows that may name vm. The filters of a ZVM are not
// documented to be exact, so the caller compares again.
func (f *finder) rows(ctx context.Context, vm guard.VM) ([]vmRow, error) {
	switch vm.Kind {
	case guard.Moref, guard.Instance, guard.UUID:
		// No filter takes these.
		return f.all.get(func() ([]vmRow, error) { return f.list(ctx, nil) })
	case guard.ID:
		return f.list(ctx, url.Values{"vmIdentifier": {vm.Ref}})
	case guard.Name:
	}
	return f.list(ctx, url.Values{"vmName": {vm.Ref}})
}

func (f *finder) list(ctx context.Context, query url.Values) ([]vmRow, error) {
	const path = "/v1/vms"
	rows, err := getList[vmRow](ctx, f.c, path, query)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		if r.VmName == "" && r.id() == "" {
			return nil, &callError{op: "GET " + path, status: http.StatusOK, shape: true, err: errors.New("a row of the list names no VM")}
		}
	}
	return rows, nil
}

// askable tells whether ref can name exactly one machine. Blanks, wildcards and
// characters that cannot be seen never go to the ZVM, whose filters might read
// them as "any".
func askable(ref string) bool {
	if strings.TrimSpace(ref) == "" || len(ref) > 256 || !utf8.ValidString(ref) || strings.ContainsAny(ref, "*\uFFFD") {
		return false
	}
	for _, r := range ref {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			return false
		}
	}
	return true
}

// matches compares exactly. Names of machines differ by case; identifiers do not.
func matches(vm guard.VM, name, id, instance string) bool {
	switch vm.Kind {
	case guard.ID:
		return strings.EqualFold(id, vm.Ref)
	case guard.Moref:
		return strings.EqualFold(suffix(id), vm.Ref)
	case guard.Instance, guard.UUID:
		return strings.EqualFold(id, vm.Ref) || strings.EqualFold(suffix(id), vm.Ref) || instance != "" && (strings.EqualFold(instance, vm.Ref) || strings.EqualFold(suffix(instance), vm.Ref))
	case guard.Name:
	}
	return name == vm.Ref
}

// suffix is what stands after the last dot: the reference within a vCenter.
func suffix(id string) string { return id[strings.LastIndexByte(id, '.')+1:] }

// choose makes one machine of the rows, if they are of one machine.
func choose(vm guard.VM, hits []vmRow, others []unprotectedRow) (*machine, *miss) {
	hits = narrow(vm.Site, hits)
	var ids, groups, gone []string
	m := &machine{}
	for _, r := range hits {
		id, vpg := r.id(), r.group()
		if id == "" || !pathSafe(vpg) {
			return nil, &miss{code: reason.GuardLookupFailed, message: fmt.Sprintf("could not look up the machine %s: Zerto's list shows it without its identifier or that of its group", quote(vm.Ref))}
		}
		add(&ids, id)
		add(&groups, vpg)
		if r.IsVmExists != nil && !*r.IsVmExists {
			add(&gone, fmt.Sprintf("%s in group %s", id, quote(string(r.VpgName))))
			continue
		}
		m.name, m.id = string(r.VmName), id
		if !m.in(vpg) {
			m.groups = append(m.groups, membership{vpg: vpg, name: string(r.VpgName), site: r.ProtectedSite, siteAs: r.siteName(), status: r.Status, sub: r.SubStatus, rpo: r.ActualRPO})
		}
	}
	var twins []string
	for _, o := range others {
		if !slices.Contains(ids, o.id()) {
			twins = append(twins, o.id()+" (not protected)")
		}
	}
	switch {
	case len(ids)+len(twins) > 1:
		return nil, &miss{code: reason.GuardVMAmbiguous, groups: groups, message: fmt.Sprintf("%s names %d machines: %s", quote(vm.Ref), len(ids)+len(twins), describe(hits, twins))}
	case len(m.groups) == 0:
		return nil, &miss{code: reason.GuardVMUnprotected, groups: groups, message: fmt.Sprintf("%s is protected in name only: the machine is gone from the hypervisor (%s)", quote(vm.Ref), strings.Join(gone, ", "))}
	case vm.Site != "" && !m.at(vm.Site):
		return nil, &miss{code: reason.GuardVMAmbiguous, groups: groups, message: fmt.Sprintf("the call is about %s at %s, and the machine that Zerto protects under this name is at another place: %s", quote(vm.Ref), quote(vm.Site), describe(hits, nil))}
	}
	return m, nil
}

// narrow keeps the rows at the site of the hint, if there are any.
func narrow(hint string, hits []vmRow) []vmRow {
	var kept []vmRow
	for _, r := range hits {
		m := machine{id: r.id(), groups: []membership{{site: r.ProtectedSite, siteAs: r.siteName()}}}
		if hint != "" && m.at(hint) {
			kept = append(kept, r)
		}
	}
	if len(kept) == 0 {
		return hits
	}
	return kept
}

func (m *machine) in(vpg string) bool {
	return slices.ContainsFunc(m.groups, func(g membership) bool { return strings.EqualFold(g.vpg, vpg) })
}

// at tells whether a hint of the call fits the machine's site: its name or
// identifier, or the identifier of its vCenter.
func (m *machine) at(hint string) bool {
	server, _, _ := strings.Cut(m.id, ".")
	for _, g := range m.groups {
		for _, s := range []string{g.siteAs, g.site.id(), server} {
			if s != "" && strings.EqualFold(s, hint) {
				return true
			}
		}
	}
	return false
}

func describe(hits []vmRow, more []string) string {
	var s []string
	for _, r := range hits {
		d := fmt.Sprintf("%s in group %s", r.id(), quote(string(r.VpgName)))
		if n := r.siteName(); n != "" {
			d += " at site " + quote(n)
		}
		add(&s, printable(d))
	}
	for _, m := range more {
		add(&s, printable(m))
	}
	if len(s) > 6 {
		s = append(s[:6], fmt.Sprintf("and %d more", len(s)-6))
	}
	return strings.Join(s, ", ")
}

// notFound tells the answer "there is no such VM" from "I cannot tell": 404, or
// 400 for what is no identifier, from the API itself and not about a login or a
// licence. asked is what the request named: a machine may be called token-01.
func notFound(err error, asked string) bool {
	var ce *callError
	if !errors.As(err, &ce) || ce.login || ce.shape || ce.status != http.StatusBadRequest && ce.status != http.StatusNotFound {
		return false
	}
	t := strings.ReplaceAll(strings.ToLower(ce.text), strings.ToLower(asked), "")
	for _, word := range []string{"licen", "permission", "token", "login", "log in", "logon", "unauthor", "not authorized", "forbidden", "session", "credential", "invalid_grant", "invalid_client", "access denied", "privilege"} {
		if strings.Contains(t, word) {
			return false
		}
	}
	return true
}

func lookupFailed(op string, err error) *miss {
	m := &miss{code: reason.GuardLookupFailed, message: fmt.Sprintf("could not %s: %v", op, err), retry: 30 * time.Second}
	var ce *callError
	if errors.As(err, &ce) && ce.retryAfter > 0 {
		m.retry = ce.retryAfter
	}
	return m
}

func add(list *[]string, s string) {
	if !slices.Contains(*list, s) {
		*list = append(*list, s)
	}
}

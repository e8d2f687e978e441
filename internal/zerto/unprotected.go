package zerto

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"hooktrail/internal/guard"
	"hooktrail/internal/reason"
)

// unguardedNamesakes returns the machines that the hypervisor has, no group
// protects, and vm fits.
func (f *finder) unguardedNamesakes(ctx context.Context, vm guard.VM) ([]unprotectedRow, error) {
	all, err := f.unguarded.get(func() ([]unprotectedRow, error) { return listUnprotected(ctx, f.c) })
	var hits []unprotectedRow
	for _, r := range all {
		instance := string(r.VmInstanceIdentifier)
		if instance == "" {
			instance = string(r.Link.Instance)
		}
		if matches(vm, string(r.VmName), r.id(), instance) {
			hits = append(hits, r)
		}
	}
	return hits, err
}

// listUnprotected reads what the hypervisors have and no group protects. It
// only refines an answer, so it takes no more than a part of the time.
func listUnprotected(ctx context.Context, c *client) ([]unprotectedRow, error) {
	ctx, cancel := context.WithTimeout(ctx, c.clock.real(min(10*time.Second, c.clock.left(ctx)/4)))
	defer cancel()
	sites, err := getList[virtualizationSite](ctx, c, "/v1/virtualizationsites", nil)
	if err != nil {
		return nil, err
	}
	if len(sites) > 20 {
		sites = sites[:20]
	}
	found := make([][]unprotectedRow, len(sites))
	errs := make([]error, len(sites))
	each(len(sites), few, func(i int) {
		id := sites[i].id()
		if !pathSafe(id) {
			errs[i] = errors.New("a site without a usable identifier")
			return
		}
		found[i], errs[i] = getList[unprotectedRow](ctx, c, "/v1/virtualizationsites/"+url.PathEscape(id)+"/vms", nil)
	})
	var all []unprotectedRow
	for _, f := range found {
		all = append(all, f...)
	}
	return all, errors.Join(errs...)
}

func unprotected(vm guard.VM, others []unprotectedRow, err error) *miss {
	if len(others) > 0 {
		return &miss{code: reason.GuardVMUnprotected, message: fmt.Sprintf("Zerto sees %s (%s) and does not protect it: it is in no protection group", quote(vm.Ref), printable(others[0].id()))}
	}
	m := &miss{code: reason.GuardVMUnknown, message: fmt.Sprintf("Zerto protects no machine called %s, letter case and blanks included", quote(vm.Ref))}
	if vm.Kind != guard.Name && vm.Kind != "" {
		m.message = fmt.Sprintf("Zerto protects no machine with the %s %s", vm.Kind, quote(vm.Ref))
	}
	if err != nil {
		m.message += "; whether the hypervisor has it could not be found out"
	}
	return m
}

// Package catalogues_test judges realistic calls with the ready catalogues.
package catalogues_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"hooktrail/internal/config"
	"hooktrail/internal/guard"
	"hooktrail/internal/reason"
)

// confirms is a provider that confirms everything and keeps what it was asked.
type confirms struct{ asked []string }

func (c *confirms) Name() string { return "test" }

func (c *confirms) Protect(_ context.Context, r guard.Request) guard.Outcome {
	for _, v := range r.VMs {
		s := v.Ref
		if v.Kind != "" && v.Kind != guard.Name {
			s = string(v.Kind) + ":" + s
		}
		c.asked = append(c.asked, s)
	}
	return guard.Outcome{Code: reason.GuardCheckpointConfirmed, Message: "confirmed"}
}

// want is a reason code, or the machines that get a checkpoint.
type call struct{ tool, input, want string }

func TestCatalogues(t *testing.T) {
	const (
		reads   = "guard_read_only"
		creates = "guard_unguarded"
		missing = "guard_vm_missing"
		other   = "guard_tool_unlisted"
	)
	for file, calls := range map[string][]call{
		"esxi-mcp-server.json": {
			{"mcp__esxi__powerOff", `{"name":"app01"}`, "app01"},
			{"mcp__esxi__deleteVM", `{"name":"app 01 (old)"}`, "app 01 (old)"},
			{"mcp__vsphere_prod__powerOn", `{"name":"app01"}`, "app01"},
			{"mcp__esxi__createVM", `{"name":"new","cpu":2,"memory":4096}`, creates},
			{"mcp__esxi__cloneVM", `{"template_name":"tpl","new_name":"new"}`, creates},
			{"mcp__esxi__listVMs", `{}`, reads},
			{"mcp__esxi__authenticate", `{"key":"k"}`, reads},
			{"mcp__esxi__powerOff", `{"vm":"app01"}`, missing},
			{"mcp__esxi__poweroff", `{"name":"app01"}`, other},
		},
		"vmware-aiops.json": {
			{"mcp__vmware-aiops__vm_power_off", `{"vm_name":"app01","force":true,"target":"vc1"}`, "app01"},
			{"mcp__vmware-aiops__vm_reconfigure", `{"vm_name":"app01","cpu":4,"memory_mb":8192}`, "app01"},
			{"mcp__vmware-aiops__vm_guest_exec", `{"vm_name":"app01","command":"/bin/ls"}`, "app01"},
			{"mcp__vmware-aiops__create_drs_rule", `{"vm_names":["app01","app02"],"rule":"affinity"}`, "app01 app02"},
			{"mcp__vmware-aiops__vm_create_plan", `{"operations":[{"action":"power_off","vm_name":"app01"},{"action":"delete","vm_name":"app02"}]}`, "app01 app02"},
			{"mcp__vmware-aiops__vm_create_plan", `{"operations":[{"action":"power_off","vm_name":"app01"},{"action":"delete"}]}`, missing},
			{"mcp__vmware-aiops__vm_apply_plan", `{"plan_id":"p-1"}`, missing},
			{"mcp__vmware-aiops__vm_rollback_plan", `{"plan_id":"p-1"}`, missing},
			{"mcp__vmware-aiops__batch_clone_vms", `{"source_vm_name":"tpl","vm_names":["a","b"]}`, creates},
			{"mcp__vmware-aiops__vm_list_snapshots", `{"vm_name":"app01"}`, reads},
			{"mcp__vmware-aiops__list_virtual_machines", `{}`, reads},
			{"mcp__other__list_and_delete", `{}`, other},
		},
		"proxmox-mcp-plus.json": {
			{"mcp__proxmox__stop_vm", `{"node":"pve1","vmid":"101"}`, "101"},
			{"mcp__proxmox__delete_vm", `{"node":"pve1","vmid":101,"force":true}`, "101"},
			{"mcp__proxmox__execute_vm_command", `{"node":"pve1","vmid":"101","command":"ls"}`, "101"},
			{"mcp__proxmox__rollback_snapshot", `{"node":"pve1","vmid":"101","snapname":"s"}`, "101"},
			{"mcp__proxmox__restore_backup", `{"archive":"a","vmid":"101"}`, missing},
			{"mcp__proxmox__stop_container", `{"selector":"pve1:200"}`, missing},
			{"mcp__proxmox__get_vms", `{}`, reads},
		},
		"mcp-proxmox.json": {
			{"mcp__proxmox__proxmox_delete_vm", `{"node":"pve1","vmid":"101"}`, "101"},
			{"mcp__proxmox__proxmox_resize_disk_vm", `{"node":"pve1","vmid":"101","disk":"scsi0","size":"+10G"}`, "101"},
			{"mcp__proxmox__proxmox_delete_lxc", `{"node":"pve1","vmid":"200"}`, missing},
			{"mcp__proxmox__proxmox_get_vms", `{}`, reads},
			{"mcp__proxmox__proxmox_list_templates", `{}`, reads},
			{"mcp__proxmox__proxmox_format_node", `{}`, other},
		},
		"hyperv-mcp.json": {
			{"mcp__hyperv__hyperv_stop_vm", `{"vm_name":"app01","method":"turnoff","confirm":true}`, "app01"},
			{"mcp__hyperv__hyperv_guest_run_ps", `{"vm_name":"app01","script":"Get-Process"}`, "app01"},
			{"mcp__hyperv__hyperv_repair_guest_access", `{"vm_name":"app01"}`, reads},
			{"mcp__hyperv__hyperv_repair_guest_access", `{"vm_name":"app01","apply":false}`, reads},
			{"mcp__hyperv__hyperv_repair_guest_access", `{"vm_name":"app01","apply":true}`, "app01"},
			{"mcp__hyperv__hyperv_repair_guest_access", `{"vm_name":"app01","apply":"yes"}`, "app01"},
			{"mcp__hyperv__hyperv_repair_guest_access", `{"vm_name":"app01","apply":1}`, "app01"},
			{"mcp__hyperv__hyperv_repair_guest_access", `{"vm_name":"app01","apply":"false"}`, "app01"},
			{"mcp__hyperv__hyperv_repair_guest_access", `{"vm_name":"app01","Apply":true}`, "guard_vm_ambiguous"},
			{"mcp__hyperv__hyperv_list_vms", `{}`, reads},
		},
		"mcp-nutanix.json": {
			{"mcp__nutanix__vm_list", `{"filter":"a"}`, reads},
			{"mcp__nutanix__cluster_count", `{}`, reads},
			{"mcp__nutanix__vm_delete", `{"id":"x"}`, other},
		},
		"nutanix-mcp-server.json": {
			{"mcp__nutanix__power_off_vm", `{"vm_uuid":"6d1c8a1e-0000-4000-8000-000000000000"}`, missing},
			{"mcp__nutanix__create_vm", `{"name":"new"}`, creates},
			{"mcp__nutanix__pe_list_hosts", `{}`, reads},
		},
		"openstack-mcp.json": {
			{"mcp__openstack__action_server", `{"id":"6d1c8a1e-0000-4000-8000-000000000000","action":"reboot"}`, "uuid:6d1c8a1e-0000-4000-8000-000000000000"},
			{"mcp__openstack__delete_server", `{"id":"6d1c8a1e-0000-4000-8000-000000000000"}`, "uuid:6d1c8a1e-0000-4000-8000-000000000000"},
			{"mcp__openstack__detach_volume", `{"server_id":"6d1c8a1e-0000-4000-8000-000000000000","volume_id":"v"}`, "uuid:6d1c8a1e-0000-4000-8000-000000000000"},
			{"mcp__openstack__create_server", `{"name":"new"}`, creates},
			{"mcp__openstack__get_server", `{"id":"x"}`, reads},
		},
		"libvirt-mcp.json": {
			{"mcp__libvirt__destroy_vm", `{"vm_name":"app01"}`, "app01"},
			{"mcp__libvirt__create_vm", `{"name":"new"}`, creates},
			{"mcp__libvirt__get_vm_ip", `{"vm_name":"app01"}`, reads},
		},
		"azure-mcp.json": {
			{"mcp__azure__azmcp_compute_vm_delete", `{"vm-name":"app02","resource-group":"rg","force-deletion":true}`, "app02"},
			{"mcp__azure__compute_vm_power-state", `{"vm-name":"app02","resource-group":"rg","power-action":"stop"}`, "app02"},
			{"mcp__azure__compute_vm_get", `{"vm-name":"app02"}`, reads},
			{"mcp__azure__compute_vm_create", `{"vm-name":"new"}`, creates},
			{"mcp__azure__compute", `{"command":"vm_delete","parameters":{"vm-name":"app02"}}`, "app02"},
			{"mcp__azure__compute", `{"command":"compute_vm_get","parameters":{"vm-name":"app02"}}`, reads},
			{"mcp__azure__compute", `{"command":"vm_get; vm_delete","parameters":{"vm-name":"app02"}}`, "app02"},
			{"mcp__azure__compute", `{"command":"vm_delete","parameters":{}}`, missing},
			{"mcp__azure__compute", `{"learn":true}`, missing},
		},
		"aws-api-mcp.json":    aws("mcp__aws__call_aws", "cli_command", call{"mcp__aws__suggest_aws_commands", `{"query":"stop"}`, reads}),
		"aws-mcp-server.json": aws("mcp__aws__aws_cli_pipeline", "command", call{"mcp__aws__aws_cli_help", `{"service":"ec2"}`, reads}),
		"terraform-mcp-server.json": {
			{"mcp__terraform__create_run", `{"terraform_org_name":"o","workspace_name":"prod-web","run_type":"plan_only"}`, reads},
			{"mcp__terraform__create_run", `{"terraform_org_name":"o","workspace_name":"prod-web","run_type":"plan_and_apply"}`, "prod-web"},
			{"mcp__terraform__create_run", `{"terraform_org_name":"o","workspace_name":"prod-web"}`, "prod-web"},
			{"mcp__terraform__action_run", `{"run_id":"run-1","run_action":"apply"}`, missing},
			{"mcp__terraform__action_run", `{"run_id":"run-1","run_action":"discard"}`, reads},
			{"mcp__terraform__action_run", `{"run_id":"run-1","run_action":"cancel"}`, missing},
			{"mcp__terraform__delete_workspace_safely", `{"workspace_id":"ws-1"}`, missing},
			{"mcp__terraform__search_modules", `{"q":"x"}`, reads},
			{"mcp__terraform__get_provider_details", `{}`, reads},
			{"mcp__terraform__create_workspace", `{}`, other},
		},
	} {
		t.Run(file, func(t *testing.T) {
			c, err := config.Load(file)
			require.NoError(t, err)
			for _, x := range calls {
				p := &confirms{}
				g, err := guard.New(c, p)
				require.NoError(t, err)
				v := g.Judge(t.Context(), guard.Call{Tool: x.tool, Input: []byte(x.input)})
				got := string(v.Code)
				if v.Code == reason.GuardCheckpointConfirmed {
					got = strings.Join(p.asked, " ")
				}
				require.Equal(t, x.want, got, "%s %s: %s", x.tool, x.input, v.Message)
			}
		})
	}
	files, err := filepath.Glob("*.json")
	require.NoError(t, err)
	require.Len(t, files, 13, "each catalogue has a test and a line in the README")
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, f := range files {
		require.Contains(t, string(readme), "`"+f+"`")
	}
}

// aws is what both AWS servers get: a command line in a string.
func aws(tool, arg string, more call) []call {
	const (
		reads   = "guard_read_only"
		missing = "guard_vm_missing"
	)
	calls := []call{
		more,
		// A server may take several commands at once.
		{tool, `{"` + arg + `":["aws ec2 describe-instances","aws s3api list-buckets"]}`, reads},
		{tool, `{"` + arg + `":["aws ec2 describe-instances","aws rds delete-db-instance --db-instance-identifier d"]}`, missing},
		{tool, `{"` + arg + `":["aws ec2 describe-instances","aws ec2 stop-instances --instance-ids i-0abc1234"]}`, missing},
	}
	for _, x := range []struct{ line, want string }{
		{"aws ec2 stop-instances --instance-ids i-0abc1234def567890", "instance:i-0abc1234def567890"},
		{"aws ec2 terminate-instances --instance-ids i-0abc1234def567890 i-0abc1234def567891 --region eu-west-1", "instance:i-0abc1234def567890 instance:i-0abc1234def567891"},
		{"aws ec2 reboot-instances --region eu-west-1 --instance-ids i-0abc1234", "instance:i-0abc1234"},
		{"aws ec2 describe-instances", reads},
		{"aws ec2 describe-instances --filters Name=tag:env,Values=prod --query 'Reservations[].Instances[]'", reads},
		{"aws s3api list-buckets", reads},
		{"aws rds modify-db-instance --db-instance-identifier d", missing},
		// What is not in the plain form is not taken apart: a part could be missed.
		{`aws ec2 stop-instances --instance-ids i-0abc1234 \"i-0abc1235\"`, missing},
		{"aws ec2 stop-instances --instance-ids i-0abc1234 foo i-0abc1235", missing},
		{"aws ec2 stop-instances --instance-ids $(cat ids)", missing},
		{"aws ec2 stop-instances --instance-ids i-0abc1234 && aws ec2 stop-instances --instance-ids i-0abc1235", missing},
		{"aws ec2 stop-instances --cli-input-json file://x", missing},
		{"aws ec2 describe-instances; aws ec2 terminate-instances --instance-ids i-0abc1234", missing},
		{"aws ec2 describe-instances | xargs aws ec2 terminate-instances", missing},
		{"aws ec2 describe-instances `aws ec2 terminate-instances`", missing},
		{`aws ec2 describe-instances\naws ec2 terminate-instances --instance-ids i-0abc1234`, missing},
		{"aws ec2 get-console-output --instance-id i-0abc1234", reads},
		{"", missing},
	} {
		calls = append(calls, call{tool, `{"` + arg + `":"` + x.line + `"}`, x.want})
	}
	return calls
}

package settings

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// knownSettings are the host's other settings by the type that their value must
// have. One known setting of a wrong type, null included, makes the host throw
// the whole file away, with the hooks and the permission rules in it; a setting
// that it does not know it ignores.
var knownSettings = map[jsontext.Kind]string{
	'"': `$schema apiKeyHelper proxyAuthHelper awsCredentialExport awsAuthRefresh gcpAuthRefresh processWrapper attributionProject model
		prUrlTemplate otelHeadersHelper outputStyle language advisorModel agent minimumVersion requiredMinimumVersion requiredMaximumVersion
		plansDirectory timeZone autoMemoryDirectory claudeMd pluginTrustMessage`,
	't': `respectGitignore syncClaudeAiSkills syncClaudeAiPlugins wslInheritsWindowsSettings includeCoAuthoredBy includeGitInstructions
		enforceAvailableModels enableAllProjectMcpServers disableClaudeAiConnectors disableBundledSkills disableAllHooks disableReplyCheck
		disableAgentView disableRemoteControl disableWorkflows disableArtifact enableArtifact enableWorkflows disableSkillShellExecution
		allowManagedHooksOnly allowManagedPermissionRulesOnly allowManagedMcpServersOnly disableCommandPluginSources disableSideloadFlags
		skipWebFetchPreflight spinnerTipsEnabled syntaxHighlightingDisabled terminalTitleFromRename alwaysThinkingEnabled fastMode
		promptSuggestionEnabled awaySummaryEnabled prefersReducedMotion autoMemoryEnabled showThinkingSummaries
		skipDangerousModePermissionPrompt verbose autoCompactEnabled autoScrollEnabled fileCheckpointingEnabled showTurnDuration
		terminalProgressBarEnabled todoFeatureEnabled`,
	'0': `cleanupPeriodDays desktopSessionCleanupPeriodDays feedbackSurveyRate`,
	'[': `fallbackModel availableModels deniedModels enabledMcpjsonServers disabledMcpjsonServers allowedHttpHookUrls httpHookAllowedEnvVars
		companyAnnouncements allowedChannelPlugins claudeMdExcludes`,
	'{': `env permissions statusLine enabledPlugins modelOverrides skillOverrides pluginConfigs sandbox fileSuggestion extraKnownMarketplaces`,
}

var kindWords = map[jsontext.Kind]string{'"': "a string", 't': "true or false", '0': "a number", '[': "a list", '{': "an object"}

// types looks at the types of known settings.
func (c *checker) types(root *Node) {
	root.last(func(m Member) {
		for kind, names := range knownSettings {
			if m.Value.Kind == kind || kind == 't' && m.Value.Kind == 'f' || !slices.Contains(strings.Fields(names), m.Name) {
				continue
			}
			hint := c.setting(m.Name+" is of a wrong type", "ignores the setting")
			if m.Name == "allowManagedHooksOnly" {
				hint = c.setting(m.Name+" is of a wrong type", "takes it for true")
			}
			c.add(Error, m.Value.Pos, pointer("", m.Name), "setting-type", m.Name+" must be "+kindWords[kind]+", this is "+m.Value.what(), hint)
		}
	})
	p := root.Get("permissions")
	for _, k := range []string{"allow", "deny", "ask", "additionalDirectories"} {
		if v := p.Get(k); v != nil && !v.IsList() {
			hint := c.setting("permissions."+k+" is no list", "ignores the rules")
			c.add(Error, v.Pos, pointer("/permissions", k), "setting-type", "permissions."+k+" must be a list, this is "+v.what(), hint)
		}
	}
}

package export

// A field is one of those that an event may have. What lies in a nested object
// has a number of its own.
type field int

// The fields, in the order in which the log writes them.
const (
	fTime field = iota
	fEventID
	fSeq
	fPrev
	fSchemaVersion
	fProduct
	fHost
	fUser
	fKind
	fAction
	fSessionID
	fHookEvent
	fToolUseID
	fPromptID
	fAgentID
	fPermissionMode
	fCWD
	fTranscriptPath
	fTool
	fMCPServer
	fCommand
	fTarget
	fInput
	fLayer
	fDecision
	fReason
	fMessage
	fHookName
	fOnFailure
	fExitCode
	fTimedOut
	fGate
	fDurationMs
	fDeadlineMs
	fCheckpoint
	fEvidence
	fSchemaErrors
	fConfigSHA256
	fTruncated

	fInputBytes
	fInputHMAC
	fInputTruncated

	fProvider
	fVM
	fVPG
	fSite
	fPlatform
	fTag
	fID
	fCheckpointTime
	fState
	fCadenceS
	fWaitedMs

	nFields
)

// What a field holds.
type fieldType byte

const (
	text fieldType = iota
	integer
	boolean
	timestamp
	inputObject
	checkpointObject
	errorList
)

// fields has the name that each field has in its object, and its type.
var fields = [nFields]struct {
	name string
	is   fieldType
}{
	fTime:           {"time", timestamp},
	fEventID:        {"eventId", text},
	fSeq:            {"seq", integer},
	fPrev:           {"prev", text},
	fSchemaVersion:  {"schemaVersion", integer},
	fProduct:        {"product", text},
	fHost:           {"host", text},
	fUser:           {"user", text},
	fKind:           {"kind", text},
	fAction:         {"action", text},
	fSessionID:      {"sessionId", text},
	fHookEvent:      {"hookEvent", text},
	fToolUseID:      {"toolUseId", text},
	fPromptID:       {"promptId", text},
	fAgentID:        {"agentId", text},
	fPermissionMode: {"permissionMode", text},
	fCWD:            {"cwd", text},
	fTranscriptPath: {"transcriptPath", text},
	fTool:           {"tool", text},
	fMCPServer:      {"mcpServer", text},
	fCommand:        {"command", text},
	fTarget:         {"target", text},
	fInput:          {"input", inputObject},
	fLayer:          {"layer", text},
	fDecision:       {"decision", text},
	fReason:         {"reason", text},
	fMessage:        {"message", text},
	fHookName:       {"hookName", text},
	fOnFailure:      {"onFailure", text},
	fExitCode:       {"exitCode", integer},
	fTimedOut:       {"timedOut", boolean},
	fGate:           {"gate", text},
	fDurationMs:     {"durationMs", integer},
	fDeadlineMs:     {"deadlineMs", integer},
	fCheckpoint:     {"checkpoint", checkpointObject},
	fEvidence:       {"evidence", text},
	fSchemaErrors:   {"schemaErrors", errorList},
	fConfigSHA256:   {"configSha256", text},
	fTruncated:      {"truncated", boolean},

	fInputBytes:     {"bytes", integer},
	fInputHMAC:      {"hmac", text},
	fInputTruncated: {"truncated", boolean},

	fProvider:       {"provider", text},
	fVM:             {"vm", text},
	fVPG:            {"vpg", text},
	fSite:           {"site", text},
	fPlatform:       {"platform", text},
	fTag:            {"tag", text},
	fID:             {"id", text},
	fCheckpointTime: {"time", timestamp},
	fState:          {"state", text},
	fCadenceS:       {"cadenceS", integer},
	fWaitedMs:       {"waitedMs", integer},
}

// A group is the fields of one object: from first up to, not including, end.
type group struct{ first, end field }

var (
	topLevel   = group{fTime, fInputBytes}
	inInput    = group{fInputBytes, fProvider}
	inSnapshot = group{fProvider, nFields}
)

// find returns the field of that name. It begins its search at hint, since lines
// have their fields in the log's order.
func (g group) find(name []byte, hint field) (field, bool) {
	for f := hint; f < g.end; f++ {
		if fields[f].name == string(name) {
			return f, true
		}
	}
	for f := g.first; f < hint; f++ {
		if fields[f].name == string(name) {
			return f, true
		}
	}
	return 0, false
}

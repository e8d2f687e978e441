package cli

// commands lists the verbs in the order of the help text. Each lives in a file
// of its own name.
func commands() []command {
	return []command{
		{"hook", "the hook: event on standard input, answer on standard output", runHook},
		{"run", "supervise another hook: deadline, fail closed, audited", runRun},
		{"gate", "classify callback results", runGate},
		{"check", "say what is wrong in hooks settings, and what happens when a hook fails", runCheck},
		{"ship", "log -> NATS JetStream", runShip},
		{"serve", "HTTP hook endpoint, shipping, metrics", runServe},
		{"install", "put hooktrail into a settings file", runInstall},
		{"uninstall", "take it out again", runUninstall},
		{"doctor", "prove that it works, or say what is wrong", runDoctor},
		{"tail", "show the log, and follow it", runTail},
		{"report", "answer a question about the log", runReport},
		{"explain", "tell the story of one call", runExplain},
		{"export", "the log -> ECS, OCSF, OTLP or CEF for a SIEM", runExport},
		{"ingest", "the host's transcripts, stream-json and telemetry -> events", runIngest},
		{"verify", "check the audit log: every line, the chain, its end", runVerify},
		{"checkpoints", "checkpoints the guard asked for: pending, confirmed, late, failed", runCheckpoints},
		{"demo", "the whole pipeline on this machine, nothing to set up", runDemo},
		{"schema", "print an embedded JSON Schema", runSchema},
	}
}

package cli

// commands lists the verbs in the order of the help text. Each lives in a file
// of its own name.
func commands() []command {
	return []command{
		{"ship", "log -> NATS JetStream", runShip},
	}
}

// Package settings reads the hooks settings of coding agents: it says what is
// wrong in a file and what really happens when one of its hooks fails (Check),
// puts our own entries in and takes them out without touching another byte
// (Install, Uninstall), and tells when a change would disarm them (Disarms).
//
// What the host does with a file was measured with the real client and is
// written down in host.go. The package reads files and never runs a hook, never
// prints, and refuses to edit a file that it cannot parse.
package settings

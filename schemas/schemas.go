// Package schemas embeds the JSON Schemas (draft 2020-12) of everything that
// crosses hooktrail's boundary: what hosts send, what hooks answer, what we
// write, and how we are configured. It holds no code beyond the file system.
package schemas

import "embed"

// FS holds the schema files by their names, such as "config.schema.json" and
// "events/PreToolUse.schema.json".
//
//go:embed *.schema.json events/*.schema.json
var FS embed.FS

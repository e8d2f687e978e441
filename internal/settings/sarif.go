package settings

import (
	"path/filepath"
	"slices"
)

// SARIF returns the findings as a SARIF 2.1.0 log, ready to be encoded.
func (r Report) SARIF(version string) any {
	type obj = map[string]any
	level := map[Severity]string{Error: "error", Warning: "warning", Note: "note"}
	var ids []string
	results := []any{}
	for _, f := range r.Findings {
		if !slices.Contains(ids, f.Code) {
			ids = append(ids, f.Code)
		}
		text := f.Message
		if p := Dotted(f.Path); p != "" {
			text = p + ": " + text
		}
		if f.Hint != "" {
			text += " (" + f.Hint + ")"
		}
		physical := obj{"artifactLocation": obj{"uri": filepath.ToSlash(f.File)}}
		if f.Line > 0 {
			physical["region"] = obj{"startLine": f.Line, "startColumn": f.Column}
		}
		location := obj{"physicalLocation": physical}
		if f.Path != "" {
			location["logicalLocations"] = []any{obj{"fullyQualifiedName": f.Path}}
		}
		results = append(results, obj{
			"ruleId": f.Code, "level": level[f.Severity], "message": obj{"text": text}, "locations": []any{location},
		})
	}
	slices.Sort(ids)
	rules := []any{}
	for _, id := range ids {
		rules = append(rules, obj{"id": id})
	}
	driver := obj{"name": "hooktrail", "version": version, "rules": rules}
	return obj{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []any{obj{"tool": obj{"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}},
	}
}

package ship

import (
	"errors"
	"fmt"
	"io/fs"

	"hooktrail/internal/audit"
)

// logFiles returns the files of the log, oldest first, the current one last.
func logFiles(path string) ([]string, error) {
	names, err := audit.Files(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the log's files: %w", err)
	}
	return names, nil
}

//go:build !unix

package observe

import "os"

// openRegular opens a regular file.
func openRegular(path string) (*os.File, string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, "", err
	}
	if !info.Mode().IsRegular() {
		return nil, "", errNotRegular
	}
	f, err := os.Open(path)
	return f, "", err
}

package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
)

func newSHA256() hash.Hash { return sha256.New() }

// lineHash returns the hex SHA-256 of a line without its newline.
func lineHash(line []byte) string {
	sum := sha256.Sum256(line)
	return hex.EncodeToString(sum[:])
}

func hexSum(h hash.Hash, data []byte) string {
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

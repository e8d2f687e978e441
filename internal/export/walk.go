package export

import "bytes"

// The walkers below take JSON that is known to be valid, and so cannot fail.

// members calls fn with each name, quotes included, and value of an object, and
// ends with fn's first error.
func members(raw []byte, fn func(name, value []byte) error) error {
	for i := blank(raw, 1); raw[i] != '}'; {
		end := skip(raw, i)
		name := raw[i:end]
		i = blank(raw, blank(raw, end)+1) // behind the colon
		end = skip(raw, i)
		if err := fn(name, raw[i:end]); err != nil {
			return err
		}
		i = next(raw, end)
	}
	return nil
}

// elements calls fn with each element of a list.
func elements(raw []byte, fn func([]byte) error) error {
	for i := blank(raw, 1); raw[i] != ']'; {
		end := skip(raw, i)
		if err := fn(raw[i:end]); err != nil {
			return err
		}
		i = next(raw, end)
	}
	return nil
}

// next returns where the next member begins, or the end of the object.
func next(raw []byte, i int) int {
	if i = blank(raw, i); raw[i] == ',' {
		return blank(raw, i+1)
	}
	return i
}

func blank(raw []byte, i int) int {
	for raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\n' || raw[i] == '\r' {
		i++
	}
	return i
}

func trim(raw []byte) []byte { return bytes.Trim(raw, " \t\r\n") }

// skip returns the end of the value that begins at i.
func skip(raw []byte, i int) int {
	switch raw[i] {
	case '"':
		return skipString(raw, i)
	case '{', '[':
	default:
		for i < len(raw) && raw[i] != ',' && raw[i] != '}' && raw[i] != ']' && raw[i] > ' ' {
			i++
		}
		return i
	}
	for depth := 0; ; i++ {
		switch raw[i] {
		case '"':
			i = skipString(raw, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
}

func skipString(raw []byte, i int) int {
	for i++; ; i++ {
		i += bytes.IndexByte(raw[i:], '"')
		slashes := 0
		for raw[i-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i + 1
		}
	}
}

package config

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A Duration is written as a Go duration: 150s, 2m, 50ms.
type Duration time.Duration

// UnmarshalText reads a Go duration that is not negative.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a duration such as 150s or 50ms", b)
	}
	*d = Duration(v)
	return nil
}

// Strings is one string or a list of them.
type Strings []string

// UnmarshalJSONFrom reads a string or a list of strings.
func (s *Strings) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '"' {
		var one string
		if err := json.UnmarshalDecode(dec, &one); err != nil {
			return err
		}
		*s = Strings{one}
		return nil
	}
	return json.UnmarshalDecode(dec, (*[]string)(s))
}

// VMs is one VM or a list of them.
type VMs []VM

// UnmarshalJSONFrom reads one VM or a list of them.
func (v *VMs) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	if dec.PeekKind() == '{' {
		var one VM
		if err := json.UnmarshalDecode(dec, &one); err != nil {
			return err
		}
		*v = VMs{one}
		return nil
	}
	return json.UnmarshalDecode(dec, (*[]VM)(v))
}

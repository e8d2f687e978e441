package ship

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// servers splits a list of servers and checks each. Its errors do not repeat
// what was given: a URL that cannot be read may hold a password anywhere.
func servers(list string) ([]string, error) {
	var out []string
	for i, s := range strings.Split(list, ",") {
		s = strings.TrimSpace(s)
		if s == "" {
			continue
		}
		if !strings.Contains(s, "://") {
			s = "nats://" + s
		}
		u, err := url.Parse(s)
		if err != nil || u.Hostname() == "" || strings.ContainsAny(u.Host, " \t") {
			return nil, fmt.Errorf("server %d of the NATS URL is not usable; want nats://HOST:PORT", i+1)
		}
		switch u.Scheme {
		case "nats", "tls", "ws", "wss":
		default:
			return nil, fmt.Errorf("server %d of the NATS URL has no scheme that is known; want nats, tls, ws or wss", i+1)
		}
		if u.Port() == "" && (u.Scheme == "nats" || u.Scheme == "tls") {
			u.Host = net.JoinHostPort(u.Hostname(), "4222")
		}
		out = append(out, u.String())
	}
	if len(out) == 0 {
		return nil, errors.New("no NATS URL is set")
	}
	return out, nil
}

// MaskURL hides what stands in front of the host in each URL of s: user,
// password, token.
func MaskURL(s string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, "://")
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i+3])
		s = s[i+3:]
		// A password may hold "/" or "@" that were not encoded: take the last
		// "@" before something that ends a URL in prose.
		end := strings.IndexAny(s, " \t\r\n\"'`,<>")
		if end < 0 {
			end = len(s)
		}
		if at := strings.LastIndexByte(s[:end], '@'); at >= 0 {
			b.WriteString("***@")
			s = s[at+1:]
			end -= at + 1
		}
		b.WriteString(s[:end])
		s = s[end:]
	}
}

// secretsOf returns the parts of a list of servers that must not be shown.
func secretsOf(list string) []string {
	var out []string
	for _, s := range strings.Split(list, ",") {
		u, err := url.Parse(strings.TrimSpace(s))
		if err != nil || u.User == nil {
			continue
		}
		if p, ok := u.User.Password(); ok {
			out = append(out, p, url.QueryEscape(p), url.PathEscape(p))
		} else {
			out = append(out, u.User.Username())
		}
	}
	return out
}

// mask hides URLs' user parts and the given secrets in a text.
func mask(text string, secrets []string) string {
	text = MaskURL(text)
	for _, s := range secrets {
		if len(s) >= 3 { // shorter ones would hit ordinary words
			text = strings.ReplaceAll(text, s, "***")
		}
	}
	return text
}

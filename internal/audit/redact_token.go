package audit

import "strings"

// A shape is how the tokens of one issuer look.
type shape struct {
	prefix string
	min    int    // bytes behind the prefix
	more   string // bytes that belong to it beside letters, digits, _ and -
}

// shapes are plain data: they cost nothing when the program starts. Prefixes
// are those that the issuers publish, so that a token can be recognised.
var shapes = [...]shape{
	{"ghp_", 8, ""}, {"gho_", 8, ""}, {"ghu_", 8, ""}, {"ghs_", 8, ""}, {"ghr_", 8, ""}, {"github_pat_", 8, ""},
	{"glpat-", 8, "."}, {"gldt-", 8, ""}, {"glrt-", 8, "."}, {"glcbt-", 8, ""}, {"glptt-", 8, ""}, {"glsoat-", 8, ""}, {"glft-", 8, ""}, {"glagent-", 8, ""},
	{"xoxb-", 8, ""}, {"xoxp-", 8, ""}, {"xoxa-", 8, ""}, {"xoxr-", 8, ""}, {"xoxs-", 8, ""}, {"xoxc-", 8, ""}, {"xoxd-", 8, "%/+="}, {"xoxe-", 8, ""}, {"xoxe.", 8, "."}, {"xapp-", 8, ""},
	{"AIza", 20, ""}, {"ya29.", 10, "."}, {"GOCSPX-", 8, ""},
	{"npm_", 16, ""}, {"hf_", 16, ""}, {"pypi-", 16, ""}, {"rubygems_", 16, ""}, {"dckr_pat_", 8, ""}, {"dckr_oat_", 8, ""},
	{"sk_live_", 8, ""}, {"sk_test_", 8, ""}, {"rk_live_", 8, ""}, {"rk_test_", 8, ""}, {"whsec_", 8, "+/="},
	{"shpat_", 8, ""}, {"shpss_", 8, ""}, {"shpca_", 8, ""}, {"shppa_", 8, ""}, {"sq0atp-", 8, ""}, {"sq0csp-", 8, ""},
	{"SG.", 20, "."}, {"dop_v1_", 8, ""}, {"doo_v1_", 8, ""}, {"dor_v1_", 8, ""}, {"tskey-", 8, ""},
	{"hvs.", 16, "."}, {"hvb.", 16, "."}, {"hvr.", 16, "."}, {"glsa_", 8, ""}, {"glc_", 16, "="},
	{"sntrys_", 8, "+/="}, {"sntryu_", 8, ""}, {"lin_api_", 8, ""}, {"figd_", 8, ""}, {"PMAK-", 8, ""}, {"NRAK-", 8, ""},
	{"nvapi-", 16, ""}, {"gsk_", 16, ""}, {"r8_", 20, ""}, {"pplx-", 16, ""}, {"xai-", 20, ""}, {"sbp_", 16, ""},
	{"AGE-SECRET-KEY-", 8, ""}, {"ATATT3", 20, "="}, {"ATCTT3", 20, "="}, {"ATBB", 24, ""}, {"pscale_tkn_", 8, "."}, {"pscale_pw_", 8, "."}, {"CFPAT-", 8, ""},
	{"dp.pt.", 8, ""}, {"dp.st.", 8, "."}, {"ops_eyJ", 16, ""}, {"fm2_", 20, "+/=,"}, {"secret_", 40, ""}, {"ntn_", 30, ""}, {"dapi", 32, ""}, {"1//0", 20, ""},
	{"AQoDYXdz", 20, "+/="}, {"FwoGZXIvYXdz", 20, "+/="}, {"IQoJb3JpZ2lu", 20, "+/="},
}

// shortest is the length of the shortest token, and isShapeByte tells what may
// stand in one that has a shape.
const shortest = 11

func isShapeByte(c byte) bool { return isTokenByte(c) || c == '%' || c == ',' }

// maxToken bounds what is looked at to recognise a token. What is recognised is
// masked to its end.
const maxToken = 256

// tokenLen returns the length of the token that s begins with, or zero.
func tokenLen(s string) int {
	if len(s) < shortest {
		return 0
	}
	n := run(s[:min(len(s), maxToken)], 0, func(c byte) bool { return isWord(c) || c == '-' })
	switch s[0] {
	case 'A':
		if n >= 16 && (s[1] == 'K' || s[1] == 'S' || s[1] == 'B') && strings.HasPrefix(s[2:], "IA") && upperOrDigit(s[:n]) {
			return n
		}
	case 'e':
		if n >= 10 && strings.HasPrefix(s, "eyJ") {
			all := run(s, 0, func(c byte) bool { return isWord(c) || c == '-' || c == '.' })
			if all > n || n >= 40 {
				return all
			}
		}
	case 's', 'b', 'r':
		// The tokens of Vault before 1.10: s. and 24 letters and digits; those for
		// batches (b.) and recovery (r.) are longer.
		if n == 1 && s[1] == '.' {
			if end := run(s, 2, isWord); (s[0] == 's' && end == 26 || end >= 60) && random(s[2:min(end, maxToken)]) {
				return end
			}
		}
		if strings.HasPrefix(s, "sk-") && n >= 16 && notProse(s[3:n]) {
			return run(s, 0, func(c byte) bool { return isWord(c) || c == '-' })
		}
	case 'S':
		if n == 58 && strings.IndexByte("UAONCX", s[1]) >= 0 && base32(s[:n]) {
			return n // the seed of a NATS nkey
		}
		if n == 34 && s[1] == 'K' && mixed(s[2:n]) && strings.Trim(s[2:n], "0123456789abcdef") == "" {
			return n // a Twilio API key
		}
	case 'L':
		// -----BEGIN in base64, unless it goes on with CERT or PUBL.
		if strings.HasPrefix(s, "LS0tLS1CRUdJTi") && !strings.HasPrefix(s[14:], "BDRV") && !strings.HasPrefix(s[14:], "BQVU") {
			return run(s, 0, isBase64)
		}
	case 'M', 'N', 'O':
		if m := discordToken(s, n); m > 0 {
			return m
		}
	case 'h', 'd':
		if m := webhook(s); m > 0 {
			return m
		}
	}
	if n < 1 || s[0] == '_' {
		return 0
	}
	if m := botToken(s, n); m > 0 {
		return m
	}
	if run(s[:shortest], 0, isShapeByte) < shortest {
		return 0 // as most words are, and need no look at the table
	}
	for i := range shapes {
		p := &shapes[i]
		if s[0] != p.prefix[0] || !strings.HasPrefix(s, p.prefix) {
			continue
		}
		end := run(s, len(p.prefix), func(c byte) bool { return isWord(c) || c == '-' || strings.IndexByte(p.more, c) >= 0 })
		if end-len(p.prefix) >= p.min {
			return end
		}
	}
	return 0
}

// webhook returns the length of a URL that is itself a secret.
func webhook(s string) int {
	for _, p := range []string{"hooks.slack.com/services/", "hooks.slack.com/workflows/", "discord.com/api/webhooks/", "discordapp.com/api/webhooks/"} {
		if strings.HasPrefix(s, p) {
			if end := run(s, len(p), func(c byte) bool { return isWord(c) || c == '-' || c == '/' }); end > len(p) {
				return end
			}
		}
	}
	return 0
}

// discordToken returns the length of a Discord bot's token: the base64 of a
// number, 6 and 27 or more characters, joined by dots.
func discordToken(s string, n int) int {
	if n < 23 || n > 28 || len(s) < n+35 || s[n] != '.' || s[n+7] != '.' || !mixed(s[:n]) {
		return 0
	}
	end := run(s, n+8, func(c byte) bool { return isWord(c) || c == '-' })
	if end-n-8 < 27 {
		return 0
	}
	return end
}

// botToken returns the length of a Telegram bot's token: 8 to 10 digits, a
// colon and 35 more; in a URL it stands behind the word bot.
func botToken(s string, n int) int {
	if rest, ok := strings.CutPrefix(s, "bot"); ok && n > 3 {
		if m := botToken(rest, n-3); m > 0 {
			return m + len("bot")
		}
	}
	if n < 8 || n > 10 || len(s) < n+36 || s[n] != ':' || !digits(s[:n]) {
		return 0
	}
	end := run(s, n+1, func(c byte) bool { return isWord(c) || c == '-' })
	if end-n-1 < 35 || end-n-1 > 40 {
		return 0
	}
	return end
}

// notProse tells the rest of an sk- key from words joined by dashes.
func notProse(s string) bool {
	return mixed(s) || s != strings.ToLower(s) || !strings.Contains(s, "-")
}

func upperOrDigit(s string) bool {
	return strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

func base32(s string) bool { return strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == "" }

package audit

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// x marks the secrets below; no secret's text may survive.
const x = "Zq9X7vWt3KpL5mNb"

// TestSecretsAreMasked is the corpus of shapes. In each, every word that holds
// x must go, and what stands in keep must stay.
func TestSecretsAreMasked(t *testing.T) {
	for _, tt := range []struct{ name, in, keep string }{
		{"bearer header", "curl -H 'Authorization: Bearer " + x + "' https://h.example/a", "https://h.example/a"},
		{"bearer header in JSON", `{"headers":{"Authorization":"Bearer ` + x + `"},"url":"https://h.example"}`, `"url":"https://h.example"`},
		{"basic header", "Authorization: Basic dXNlcjpacTlYN3ZXdDNLcEw1bU5i", "Authorization: Basic"},
		{"bare header value", "authorization: " + x, "authorization"},
		{"digest header", `-H 'Authorization: Digest username="u", response="` + x + `"' next`, "next"},
		{"aws signature", "Authorization: AWS4-HMAC-SHA256 Credential=AK/2026, Signature=" + x, "AWS4-HMAC-SHA256"},
		{"bearer in prose", "sent bearer " + x + " to h.example", "to h.example"},
		{"cookie", "curl -b x -H 'Cookie: sid=" + x + "; theme=" + x + "' https://h.example", "https://h.example"},
		{"set-cookie", "Set-Cookie: id=" + x + "; HttpOnly\nnext line", "next line"},
		{"x-api-key", "curl -H 'X-Api-Key: " + x + "' h.example", "h.example"},
		{"x-auth-token", "-H \"X-Auth-Token: " + x + "\" h.example", "h.example"},
		{"URL password", "git clone https://bob:" + x + "@git.example/r.git", "git.example/r.git"},
		{"URL password with @", "ftp://bob:" + x + "@" + x + "@ftp.example/", "ftp.example"},
		{"URL password with /", "postgres://bob:" + x + "/" + x + "@db.example/app", "db.example/app"},
		{"URL token as user", "https://" + x + "@git.example/r", "git.example/r"},
		{"URL of a broker", "nats://user:" + x + "@nats.example:4222", "nats.example:4222"},
		{"query token", "https://h.example/?access_token=" + x + "&page=2", "&page=2"},
		{"query key", "https://maps.example/api?key=" + x + "&q=berlin", "&q=berlin"},
		{"query sig", "https://blob.example/c?sv=2024&sig=" + x + "%3D&se=2026", "&se=2026"},
		{"amz signature", "https://s3.example/b/k?X-Amz-Date=2026&X-Amz-Signature=" + x, "X-Amz-Date=2026"},
		{"fragment token", "https://h.example/cb#access_token=" + x, "https://h.example/cb"},
		{"export", "export AWS_SECRET_ACCESS_KEY=" + x + "; ls", "; ls"},
		{"env prefix", "DB_PASSWORD=" + x + " ./run --port 80", "./run --port 80"},
		{"env quoted", `API_TOKEN="` + x + ` ` + x + `" ./run`, "./run"},
		{"env single quoted", `API_TOKEN='` + x + `' ./run`, "./run"},
		{"env ansi quoted", `API_TOKEN=$'` + x + `' ./run`, "./run"},
		{"docker -e", "docker run -e MYSQL_ROOT_PASSWORD=" + x + " mysql:8", "mysql:8"},
		{"from-literal", "kubectl create secret generic s --from-literal=password=" + x, "kubectl create secret generic s"},
		{"from-literal of any name", "kubectl create secret generic s --from-literal=db=" + x + " --from-literal 'u=" + x + "' -n app", "-n app"},
		{"Zerto session header", "curl -H 'x-zerto-session: " + x + "' https://zvm.example/v1/vms", "https://zvm.example/v1/vms"},
		{"Zerto session variable", "ZERTO_SESSION=" + x + " ./vms.sh --all", "./vms.sh --all"},
		{"esxcli", "esxcli -s h.example -u root -p " + x + " vm process list", "vm process list"},
		{"govc -u", "govc vm.power -u 'admin@vsphere.local:" + x + "@vc.example' -off app01", "-off app01"},
		{"secure string", "ConvertTo-SecureString \"" + x + "\" -AsPlainText -Force", "-AsPlainText -Force"},
		{"flag with space", "tool --password " + x + " --host h", "--host h"},
		{"flag with equals", "tool --token=" + x + " --host h", "--host h"},
		{"flag quoted", "tool --api-key '" + x + "' --host h", "--host h"},
		{"go flag", "tool -secret " + x + " -v", "-v"},
		{"flags in a list", `["tool","--password","` + x + `","--host","h"]`, `"--host","h"`},
		{"flags in a list with blanks", `["tool", "--client-secret", "` + x + `"]`, `"--client-secret"`},
		{"mysql -p", "mysql -u root -p" + x + " db", "mysql -u root -p"},
		{"mysql by path", "/usr/bin/mysqldump -p'" + x + "' db", "db"},
		{"sshpass", "sshpass -p " + x + " ssh bob@h.example", "ssh bob@h.example"},
		{"redis-cli", "redis-cli -h h.example -a " + x + " ping", "ping"},
		{"ldapsearch", "ldapsearch -D cn=admin -w " + x + " -b dc=x", "-b dc=x"},
		{"curl -u", "curl -u bob:" + x + " https://h.example", "https://h.example"},
		{"curl -u attached", "curl -ubob:" + x + " https://h.example", "https://h.example"},
		{"curl --user", "curl --user 'bob:" + x + "' https://h.example", "https://h.example"},
		{"docker login", "docker login -u bob -p " + x + " reg.example", "reg.example"},
		{"smbclient", "smbclient //h/s -U bob%" + x, "smbclient //h/s"},
		{"zip", "zip -P " + x + " a.zip f", "a.zip f"},
		{"openssl", "openssl rsa -passin pass:" + x + " -in k", "-in k"},
		{"keytool", "keytool -storepass " + x + " -list", "-list"},
		{"fish", "set -gx GITHUB_TOKEN " + x, "GITHUB_TOKEN"},
		{"aws configure", "aws configure set aws_secret_access_key " + x, "aws_secret_access_key"},
		{"netrc", "machine h.example login bob password " + x, "login bob"},
		{"sql", "CREATE USER bob IDENTIFIED BY '" + x + "';", "CREATE USER bob"},
		{"sql password", "ALTER ROLE bob WITH PASSWORD '" + x + "'", "ALTER ROLE bob"},
		{"json", `{"user":"bob","password":"` + x + `"}`, `"user":"bob"`},
		{"json camel", `{"clientSecret": "` + x + `", "name": "n"}`, `"name": "n"`},
		{"json number", `{"password":907199254,"x":"y"}`, `"x":"y"`},
		{"json list", `{"apiKeys":["` + x + `","` + x + `"],"x":"y"}`, `"x":"y"`},
		{"json object", `{"secret":{"value":"` + x + `"},"x":"y"}`, `"x":"y"`},
		{"escaped json", `{"body":"{\"apiKey\":\"` + x + `\",\"n\":1}"}`, `\"n\":1`},
		{"twice escaped json", `"{\"b\":\"{\\\"token\\\":\\\"` + x + `\\\",\\\"n\\\":1}\"}"`, `\\\"n\\\":1`},
		{"json with a quote inside", `{"password":"a\"` + x + `","n":1}`, `"n":1`},
		{"yaml", "user: bob\npassword: " + x + "\nport: 80", "port: 80"},
		{"toml", "secret_key = \"" + x + "\"\nport = 80", "port = 80"},
		{"ini", "aws_secret_access_key = " + x, "aws_secret_access_key"},
		{"npmrc", "//registry.example/:_authToken=" + x, "//registry.example/"},
		{"python", `client.login(user="bob", password="` + x + `", port=80)`, `port=80`},
		{"python index", `cfg["password"] = "` + x + `"`, "cfg"},
		{"go", `password := "` + x + `"`, "password"},
		{"comparison", `if token == "` + x + `" {`, "if token =="},
		{"connection string", "Server=h;User Id=bob;Password=" + x + ",x;Port=1", "Port=1"},
		{"azure storage", "AccountName=a;AccountKey=" + x + "==;EndpointSuffix=core", "AccountName=a"},
		{"kubeconfig", "client-key-data: " + x, "client-key-data"},
		{"env file in a string", `"DB_PASSWORD=` + x + `\nPORT=80"`, "PORT=80"},
		{"github", "push with ghp_" + x + x + " now", "now"},
		{"github behind an escape", `"line\nghp_` + x + x + `"`, "line"},
		{"github url-encoded", "a%3Dghp_" + x + x, "a"},
		{"github fine-grained", "github_pat_" + x + "_" + x, ""},
		{"gitlab", "glpat-" + x, ""},
		{"slack", "xoxb-123456789012-" + x, ""},
		{"slack webhook", "curl https://hooks.slack.com/services/T000/B000/" + x, "curl"},
		{"discord webhook", "https://discord.com/api/webhooks/123/" + x, ""},
		{"openai", "sk-proj-" + x, ""},
		{"anthropic", "sk-ant-api03-" + x + "-" + x, ""},
		{"stripe", "sk_live_" + x, ""},
		{"google", "AIzaSyA" + x + x, ""},
		{"google oauth", "ya29." + x, ""},
		{"npm", "npm_" + x + x, ""},
		{"pypi", "pypi-AgEI" + x, ""},
		{"hugging face", "hf_" + x + x, ""},
		{"sendgrid", "SG." + x + "." + x, ""},
		{"vault", "hvs.CAES" + x, ""},
		{"jwt", "eyJhbGciOiJIUzI1NiJ9.eyJz" + x + "." + x, ""},
		{"half a jwt", "eyJhbGciOiJIUzI1NiJ9" + x + x, ""},
		{"telegram", "123456789:AAF" + x + x, ""},
		{"docker hub", "dckr_pat_" + x, ""},
		{"atlassian", "ATATT3xFfGF0" + x, ""},
		{"grafana", "glsa_" + x, ""},
		{"private key", "-----BEGIN RSA PRIVATE KEY-----\nMIIE" + x + "\n" + x + "\n-----END RSA PRIVATE KEY-----\nafter", "after"},
		{"private key in a string", `"-----BEGIN PRIVATE KEY-----\nMIIE` + x + `\n-----END PRIVATE KEY-----\n","n":1`, `"n":1`},
		{"private key without its end", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blb" + x, ""},
		{"private key without its beginning", "said: \nb3Blb" + x + "\n" + x + "\n-----END OPENSSH PRIVATE KEY-----\nafter", "after"},
		{"pgp key", "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n" + x + "\n-----END PGP PRIVATE KEY BLOCK-----", ""},
		{"age key", "AGE-SECRET-KEY-1QQ" + strings.ToUpper(x), ""},
		{"error text", "401: token " + "ghp_" + x + " is not valid", "is not valid"},
		{"discord bot", "MTIzNDU2Nzg5MDEyMzQ1Njc4.Gabcde." + x + x, ""},
		{"google refresh token", "1//0g" + x + x, ""},
		{"doppler", "dp.pt." + x + x, ""},
		{"setenv", "setenv GITHUB_TOKEN " + x, "setenv GITHUB_TOKEN"},
		{"a key by its look", "export STRIPE_KEY=Ab1" + x + x, "STRIPE_KEY="},
		{"vault login", "vault login " + x, "vault login"},
		{"here string", "gh auth login --with-token <<< " + x, "--with-token"},
		{"here string into a variable", "read -r TOKEN <<< '" + x + "'; next", "next"},
		{"piped", "echo " + x + " | docker login -u me --password-stdin", "--password-stdin"},
		{"cookie flag", "curl -b 'sid=" + x + "' https://h.example", "https://h.example"},
		{"cookie flag, long", "curl --cookie sid=" + x + " https://h.example", "https://h.example"},
		{"proxy user", "curl -k https://h.example --proxy-user u:" + x, "--proxy-user u:"},
		{"openssl", "openssl enc -k " + x + " -in f", "-in f"},
		{"npm config", "npm config set //r.example/:_authToken " + x, "npm config set"},
		{"element", "<password>" + x + "</password>", "</password>"},
		{"name and value", `{"name": "DB_PASSWORD", "value": "` + x + `"}`, "DB_PASSWORD"},
		{"name and value, XML", `<add key="ApiSecret" value="` + x + `"/>`, "ApiSecret"},
		{"printed into a variable", "PASS=$(echo " + x + ") next", "next"},
		{"printed with backticks", "PASS=`echo " + x + "` next", "next"},
		{"in two parts", `TOKEN=abc"` + x + `" next`, "next"},
		{"behind a line's continuation", "deploy --token \\\n  " + x + " next", "next"},
		{"a pair in a URL", "https://h.example/r?to=a%3Fpassword%3D" + x, "https://h.example"},
		{"many in one line", "A_TOKEN=" + x + " B_TOKEN=" + x + " c --password " + x + " d", " d"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := Redact(tt.in)
			require.NotContains(t, strings.ToLower(out), strings.ToLower(x))
			require.NotContains(t, out, "907199254")
			require.NotContains(t, out, "dXNlcjp")
			require.Contains(t, out, mask)
			require.Contains(t, out, tt.keep)
			require.Equal(t, out, Redact(out))
		})
	}
	// The keys that are letters and digits of a fixed kind.
	for _, s := range []string{"AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE", "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY",
		"SK0123456789abcdef0123456789abcdef", "dapi0123456789abcdef0123456789abcdef"} {
		require.Equal(t, "key "+mask+" end", Redact("key "+s+" end"))
	}
}

// TestShapesAreLookedAt: what tells most words from tokens lets every shape pass.
func TestShapesAreLookedAt(t *testing.T) {
	for _, s := range shapes {
		require.GreaterOrEqual(t, len(s.prefix)+s.min, shortest, s.prefix)
		text := s.prefix + s.more
		require.Equal(t, len(text), run(text, 0, isShapeByte), s.prefix)
		require.Equal(t, len(s.prefix)+s.min, tokenLen(s.prefix+strings.Repeat("a", s.min)), s.prefix)
	}
}

// TestWhatIsNoSecretStaysReadable is the other corpus: nothing here may change.
func TestWhatIsNoSecretStaysReadable(t *testing.T) {
	for _, s := range []string{
		"", "ls -l", "go test ./...", "git commit -m 'fix: password reset page'", "git show 3f2a9c1d5e6b7a8091a2b3c4d5e6f70819203142",
		"0193800c-5a40-7000-8000-000000000001", "token_count: 5", "max_tokens=4096", "tokens: 17", "tokenizer=fast", "password reset page",
		"reset the password of the user", "secretName: tls-cert", "client_secret_file=/run/secrets/zerto", `"clientSecretFile": "/etc/z"`,
		"password_length=12", "PASSWORD_MIN_LENGTH=8", "--password-stdin", "docker login --password-stdin reg.example", "cat ~/.ssh/id_ed25519.pub",
		"PWD=/home/dev/p", "OLDPWD=/tmp", "cd $PWD && ls", "export TOKEN=$OTHER_TOKEN", "password=${DB_PASSWORD}", `curl -H "Authorization: Bearer $TOKEN" https://h.example`,
		"token=$(cat /run/token)", "password: <your password>", "password: null", `"token": ""`, "password: string", "const k = process.env.API_KEY",
		"https://h.example/path@v1.2.3/x?page=2&q=a", "https://h.example:8443/pkg@1.2", "ssh git@github.com:org/repo.git", "git clone ssh://git@github.com/org/repo",
		"https://user@bitbucket.org/a/b", "http://[::1]:8080/x@y", "bearer of bad news", "basic training", "public-key: ssh-ed25519 AAAA", "keyboard=de", "monkey=1", "primary_key: id",
		"sort -k 2 -t: file", "ssh -p 2222 h.example", "docker run -p 8080:80 nginx", "cp -p a b", "mkdir -p a/b/c", "curl -u https://h.example", "tar -xpf a.tar", "python -m http.server",
		"sk-learn-pipeline-tools", "risk-assessment-document-final", "SELECT * FROM tokens WHERE id = 5", "bypass=1", "compass: north", "author: bob", "authority=x", "oauth: yes",
		"-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
		"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "session_id: 5e55-0001", `"sessionId":"5e55-0001"`, "toolu_01ABCdefGHIjklMNOpqrSTU",
		"error: unexpected end of input at line 3: column 14", "aws ec2 terminate-instances --instance-ids i-0123456789abcdef0", "mcp__vsphere__vm_power_off", "npm_config_cache=/x", "C:\\Users\\dev\\secret.txt",
		"/home/dev/.claude/projects/p/t.jsonl", "grep -r password src/", "kubectl get secret db -o yaml", "vault login", "gh auth login", "api_key_id: 7", "eyJ", "AKIA",
		"curl -b cookies.txt https://h.example", "vault login -method=oidc", "echo done | tee log", "SORT_KEY=created_at_desc_then_by_id", "PRIMARY_KEY=user_id",
		`{"name": "replicas", "value": "3"}`, "<password></password>", "sort <in >out", "PASS=$(cat f)", `["--token-file", "a"]`, "100%3D", "cat <<< hello", "ghp_", "SG.x",
	} {
		require.Equal(t, s, Redact(s))
	}
}

func TestTextMasksBeforeItCuts(t *testing.T) {
	for _, form := range []string{"--token %", "ghp_%", "password=%", `{"token":"%"},`, "https://u:%@h/ ", "Bearer %"} {
		s := strings.Repeat(strings.ReplaceAll(form, "%", x+x)+" ", 3000)
		for limit := 40; limit < 3000; limit += 37 {
			out := Text(s, limit)
			require.LessOrEqual(t, len(out), limit)
			for n := 4; n < len(x); n++ {
				require.NotContains(t, out, x[:n], "%s at %d: %s", form, limit, out)
			}
			require.Contains(t, out, "…[cut, ")
		}
	}
	require.Equal(t, "short", Text("short", 100))
	require.Equal(t, "", Text(strings.Repeat("a", 100), 0))
	require.Equal(t, "…[cut, 300000 bytes]", Text(strings.Repeat("a", 300000), 100)) // one word could be one secret
	require.Equal(t, strings.Repeat("ä", 20)+"…[cut, 200 bytes]", Text(strings.Repeat("ä", 100), 60))
}

func TestRedactIsLinear(t *testing.T) {
	// None of these may take more than a few times what the plain text takes.
	for _, unit := range []string{"a", " ", "\"", "'", "\\", "=", ":", "-", "://", "a=", "password=", "password='", `password="\`, "-----BEGIN ", "-----BEGIN RSA PRIVATE KEY-----",
		"-----END RSA PRIVATE KEY-----", "MII\n-----END X PRIVATE KEY-----", "https://a:", "https://a:b@", "--password ", "Authorization: ", `{"secret":[`, "eyJ", "eyJa.", "a,b=", "password=,", "mysql -p", "curl -u ", "@", "machine login password ", "a-", "a.", "[redacted]", "Cookie: ", "Authorization: Digest a=\"", "basic a", "bearer a", " -a-", "a\\",
		"<password>", "<password>a<", "echo a|", "A_KEY=aB1", "value=", "key=value=", "a%3D", "token%3D", "TOKEN=a\"b\"", "TOKEN=a\"b", "vault login ", "token <<<", "curl -b a=", "\\\n", "--token \\\n", "password=$(echo ", "password=`echo "} {
		s := strings.Repeat(unit, 1<<20/len(unit))
		start := time.Now()
		out := Redact(s)
		require.Less(t, time.Since(start), 10*time.Second, "%q", unit)
		require.LessOrEqual(t, len(out), 12*len(s)+12)
	}
}

func BenchmarkRedactCommand(b *testing.B) {
	s := "cd /home/dev/p && go test ./... -run TestX | tee /tmp/out.txt; git commit -m 'fix: parser' --author='bob <bob@h.example>'"
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		Redact(s)
	}
}

func BenchmarkTextOf8MB(b *testing.B) {
	s := strings.Repeat("the quick brown fox jumps = over; ", 8<<20/34)
	for b.Loop() {
		Text(s, 8192)
	}
}

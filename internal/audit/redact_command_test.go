package audit

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSecretsOfCommandsAreMasked is the corpus of shapes that only the command,
// the place among its arguments, or an escape tells. § stands for the secret.
func TestSecretsOfCommandsAreMasked(t *testing.T) {
	for _, tt := range []string{
		`net use \\srv\share /user:bob §`, `net use Z: \\srv\share § /user:bob`, `net user bob § /add`, `token\=§`, `password\: §`, `requests.get(u, auth=("u","§"))`,
		`requests.get(u, auth=('u', '§'))`, `requests.get(u, auth=HTTPBasicAuth("u", "§"))`, `{"pass\u0077ord":"§"}`, `{"\u0070assword":"§"}`, `{"p\u0061ss":"§"}`, `{\"pass\\u0077ord\":\"§\"}`,
		`vault unwrap s.§Zq9X7vWt`, `SSHPASS=§ sshpass -e ssh h`, `kubectl create secret generic s --from-literal=api=§`, `kubectl create secret generic s --from-literal api=§`,
		`kubectl create secret generic s --from-literal=username=bob --from-literal=foo=§`, `curl -sSu bob:§ h`, `curl -su bob:§ h`, `curl -E cert.pem:§ h`, `curl --cert cert.pem:§ h`,
		`curl -x u:§@h:1 h`, `http -a bob:§ h`, `http --auth bob:§ h`, `aws configure set default.aws_session_token §`, `aws secretsmanager create-secret --name n --secret-string §`,
		`aws secretsmanager put-secret-value --secret-id n --secret-string '{"a":"§"}'`, `aws ssm put-parameter --name /db/password --type SecureString --value §`,
		`az login --service-principal -u id -p=§ --tenant t`, `az keyvault secret set --vault-name v --name n --value §`, `gcloud secrets versions add s --data-file=- <<< §`,
		`echo -n § | gcloud secrets create s --data-file=-`, `echo -n '§' | docker login --password-stdin`, `echo § | passwd --stdin bob`, `printf '%s' § | docker login -u b --password-stdin r`,
		`printf "§\n§\n" | passwd bob`, `echo -e "§\n§" | passwd bob`, `echo § | kinit bob`, `vault kv put secret/app api=§`, `vault operator unseal §§`, `docker login -p=§ -u b`,
		`docker login -u b -p'§'`, `yarn config set npmAuthToken §`, `"auth": "dXNlcjpacTlYN3ZXdDNLcEw1bU5i"`, `{"auths":{"r":{"auth":"dXNlcjpacTlYN3ZXdDNLcEw1bU5i"}}}`,
		`gh secret set FOO --body §`, `gh secret set FOO -b §`, `gh secret set FOO -b"§"`, `gh auth login --with-token < <(echo §)`, `ssh-keygen -t ed25519 -N § -f k`,
		`ssh-keygen -p -P § -N '§' -f k`, `ssh-keygen -t rsa -N "§" -f k`, `openssl enc -aes-256-cbc -K 0a1b0a1b0a1b0a1b0a1b0a1b0a1b0a1b0a1b0a1b0a1b0a1b0a1b0a1b0a1b0a1b -iv 0`,
		`openssl dgst -sha256 -hmac § f`, `openssl dgst -hmac "§"`, `openssl passwd -6 §`, `ansible-vault encrypt_string '§' --name pw`, `htpasswd -b f bob §`, `htpasswd -cb f bob §`,
		`htpasswd -nb bob §`, `htpasswd -bnBC 10 "" §`, `rdesktop -u b -p § h`, `xfreerdp /u:b /p:§ /v:h`, `xfreerdp /v:h /u:b /p:'§'`, `psexec \\h -u b -p § cmd`, `winrs -r:h -u:b -p:§ cmd`,
		`ConvertTo-SecureString '§' -AsPlainText -Force`, `ConvertTo-SecureString -String "§" -AsPlainText -Force`, `$pw = ConvertTo-SecureString § -AsPlainText -Force`,
		`New-Object System.Net.NetworkCredential("u","§")`, `[Environment]::SetEnvironmentVariable("API_TOKEN","§","User")`, `os.Setenv("API_TOKEN", "§")`, `os.environ.setdefault('API_KEY', '§')`,
		`System.setProperty("javax.net.ssl.keyStorePassword", "§")`, `redis-cli AUTH §`, `redis-cli config set requirepass §`, `requirepass §`, `mongo admin -u b -p'§'`,
		`jdbc:oracle:thin:scott/§@h:1521/x`, `sqlplus scott/§@h`, `sqlplus -s system/"§"@h`, `sqlcmd -S h -U sa -P'§'`, `cqlsh -u b -p §`, `ldapsearch -x -D cn=a -w'§'`, `ldappasswd -s § uid=b`,
		`kinit b <<< §`, `mysql -e "SET PASSWORD FOR 'b'@'h' = PASSWORD('§');"`, `CREATE USER b IDENTIFIED WITH mysql_native_password BY '§'`, `rabbitmqctl add_user b §`,
		`rabbitmqctl change_password b §`, `usermod -p '§' bob`, `useradd -p § bob`, `rclone config create r s3 secret_access_key §`, `rclone obscure §`, `mc alias set m https://h AKID §`,
		`ipmitool -I lanplus -H h -U root -P § power off`, `snmpwalk -v3 -u u -A § -X § h`, `snmpget -v2c -c § h`, `nmcli dev wifi connect ssid password §`, `wpa_passphrase ssid §`,
		`twine upload -u __token__ -p § dist/*`, `cargo login §`, `dotnet nuget push a.nupkg -k §`, `nuget setapikey §`, `wrangler secret put X <<< §`, `pulumi config set --secret dbPassword §`,
		`pulumi config set dbPassword § --secret`, `doctl auth init -t §`, `ngrok authtoken §`, `ngrok config add-authtoken §`, `govc about -u 'b:§@h'`, `racadm -r h -u root -p § getsysinfo`,
		`{"env":[{"value":"§","name":"API_KEY"}]}`, "password: |\n  §\n", "password: >-\n    §\n", "password:\n  §\n", `password = """§"""`, `passwort=§`, `mot_de_passe=§`, `contraseña=§`,
		`kennwort: §`, `https://api.telegram.org/bot123456789:AAF§§aa/getMe`, `%7B%22password%22%3A%22§%22%7D`, `password%22%3A%22§`, `&lt;password&gt;§&lt;/password&gt;`,
		`&quot;password&quot;:&quot;§&quot;`, `<Password><![CDATA[§]]></Password>`, `<wsse:Password Type="x">§</wsse:Password>`, `<password type="x">§</password>`,
		`-H "Authorization: GoogleLogin auth=§"`, `-H "Authorization: Splunk §"`, `-H "Authorization: SSWS §"`, `-H "Authorization: GenieKey §"`, `-H "Authorization: Bot §"`,
		`-H "Authorization: Zoho-oauthtoken §"`, `-H "x-zerto-session: §"`, `req.Header.Add("X-Api-Key", "§")`, `.setRequestHeader('X-Auth-Token', '§')`, `let apiKey: string = "§"`,
		`var password string = "§"`, `define('DB_PASSWORD', '§');`, `password §`, `the password is §`, `my password is: §`, `export TOKEN=${TOKEN:-§}`, `ENV API_KEY §`,
		`expect "assword:" { send "§\r" }`, `sudo -S ls <<< §`, `sudo -S <<< "§" ls`, `su -c "mysqladmin -u root password §"`, `mysqladmin -u root -p§ password §`, `lftp -u b,§ h`,
		`lftp -e 'open -u b,§ h'`, `ncftpput -u b -p § h`, `certutil -p § -importpfx a`, `security add-generic-password -a u -s s -w §`, `security unlock-keychain -p § k`, `pass insert x <<< §`,
		`bw unlock §`, `bw login b@c §`, `cryptsetup luksOpen d n <<< §`, `echo -n § | cryptsetup luksFormat d -`, `wg set wg0 private-key <(echo §)`, `PresharedKey = §=`, `secret §;`,
		`enable secret 5 §`, `username b password 0 §`, "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n§\n---- END SSH2 ENCRYPTED PRIVATE KEY ----",
		"PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nPrivate-Lines: 1\n§§\nPrivate-MAC: §", `SECRET_KEY_BASE=§`, `user_password_confirmation=§`, `adminpass=§`, `rootpw=§`, `rootpass=§`,
		`dbpass=§`, `bindpw §`, `creds=bob:§`, `CREDS="bob:§"`, `basic_auth=bob:§`, `BASIC_AUTH=bob:§`, `auth=bob:§`, `userinfo=bob:§`, `api-key §`, `apiKey("§")`, `setPassword("§")`,
		`.password("§")`, `withToken("§")`, `password("§")`, `login("bob", "§")`, `authenticate("bob", "§")`, `token “§”`, `password：§`, "pass\u200bword=§", "password\u00a0=\u00a0§", `p\assword=§`,
		"\"password\" : \n\"§\"", "\"password\"\n: \"§\"", "{\n  \"password\":\n    \"§\"\n}", `password            = §`, `DB_PASSWORD       §`, `'password', '§'`, `("password", "§")`,
		`["password","§"]`, `[["api_key","§"]]`, `{"key":"password","val":"§"}`, `{"ParameterKey":"DBPassword","ParameterValue":"§"}`, `--parameters ParameterKey=DBPassword,ParameterValue=§`,
		`wandb login §`, `snyk auth §`, `opencode auth login §`, `cloudflared service install §`, `netlify deploy --auth §`, `gem push --key § x.gem`, `skopeo copy --dest-creds user:§ docker://a docker://b`,
		`dotnet user-secrets set "Db:Password" "§"`, `eas secret:create --name X --value §`, `vercel env add FOO production <<< §`, `echo § | vercel env add FOO production`, `convex env set FOO §`,
		`/Password §`, `-Credential (New-Object PSCredential("u", (ConvertTo-SecureString "§" -AsPlainText -Force)))`, `AQoDYXdzEJr§§`,
	} {
		in := strings.NewReplacer("§U", strings.ToUpper(x), "§", x).Replace(tt)
		out := Redact(in)
		require.NotContains(t, strings.ToLower(out), strings.ToLower(x), in)
		require.NotContains(t, out, "dXNlcjp", in)
		require.NotContains(t, out, "0a1b0a1b", in)
		require.Contains(t, out, mask, in)
		require.Equal(t, out, Redact(out))
	}
}

// TestCommandsStayReadable is the other corpus: nothing here may change.
func TestCommandsStayReadable(t *testing.T) {
	for _, s := range []string{
		"git status", "git log --oneline -20 --author=bob", "git commit -m 'auth: refresh the token before it expires'", "git commit -m \"secret rotation: keep 2 old keys\"",
		"git checkout -b fix/password-reset", "git diff HEAD~1 -- internal/audit/redact.go", "git push origin HEAD:refs/heads/token-refresh", "git show 3f2a9c1:internal/auth/token.go",
		"kubectl get secret my-app-tls-v2 -o yaml", "kubectl get secrets -n prod", "kubectl delete secret db-credentials-7f9c", "kubectl create configmap c --from-literal=mode=fast", "kubectl get secret x -o jsonpath='{.data.tls}' -l app=web",
		"kubectl create secret tls t --cert=a.crt --key=a.key", "kubectl create secret generic s --from-file=./a.txt --namespace=prod",
		"docker ps -a", "docker run -p 8080:80 --name web nginx:1.27", "docker secret ls", "docker login reg.example", "docker compose -p proj up -d", "docker build -t app:1.2 .",
		"terraform plan -var-file=prod.tfvars", "terraform apply -var region=eu-west-1", "ansible-playbook -i hosts site.yml --tags web", "ansible-vault view secrets.yml", "helm upgrade a ./chart --set image.tag=1.2 --set replicas=3",
		"aws s3 ls s3://bucket/path", "aws ssm get-parameter --name /db/password --with-decryption", "az keyvault secret show --vault-name v --name n", "az vm list -o table", "gcloud compute instances list --filter='name:web*'",
		"psql -h db.example -U app -p 5432 -c 'select count(*) from tokens'", "mysql -h db.example -u app -e 'show tables'", "mysqldump -h h --port 3306 db", "redis-cli -h h -p 6379 ping", "mongosh --port 27017", "sqlite3 a.db .schema",
		"curl -sSfL https://h.example/install.sh -o install.sh", "curl -X POST -H 'Content-Type: application/json' -d '{\"name\":\"web\",\"replicas\":3}' https://h.example/v1", "curl -x proxy.example:3128 https://h.example", "curl -x http://proxy:8080 https://h", "curl -w '%{http_code}\\n' -o /dev/null -s https://h.example", "curl -E cert.pem https://h.example", "wget -q https://h.example/a.tgz", "curl https://h.example -u bob", "http GET https://h.example/api page==2",
		"ssh -i ~/.ssh/id_ed25519 -p 2222 bob@h.example 'systemctl restart app'", "scp -P 2222 a bob@h:/tmp/", "ssh-keygen -t ed25519 -f key -N ''", "ssh-keygen -lf key.pub", "openssl x509 -in a.pem -noout -text", "openssl req -new -key a.key -out a.csr -subj '/CN=h'", "openssl rand -hex 32", "openssl passwd -help",
		"npm ci && npm test", "npm run build -- --mode=prod", "npm token list", "yarn config set npmRegistryServer https://r.example", "npm config set registry https://r.example", "cargo build --release", "cargo login", "go test -run 'TestToken/expired' ./...", "go test ./internal/auth -count=1 -race", "pytest -k 'password and not reset' -x", "python -m pip install -U pip",
		"grep -rn 'password' src/ --include='*.go'", "grep -rn token2 internal/", "rg 'api_key\\s*=' -g '!*.md'", "find . -name '*secret*' -not -path './node_modules/*'", "sed -i 's/password/passphrase/g' docs/a.md", "awk -F: '{print $1}' /etc/passwd", "cat /etc/passwd | cut -d: -f1", "echo hello | grep passwd", "echo $PATH | tr ':' '\\n'", "echo \"$TOKEN\" | docker login -u me --password-stdin", "printf '%s' \"$TOKEN\" | gh auth login --with-token", "ls -la /var/run/secrets/kubernetes.io",
		"net use", "net user", "net use Z: \\\\srv\\share", "net use * \\\\srv\\share /user:bob", "net stop spooler", "Get-Content .\\a.txt | Select-String 'token'", "$password = Read-Host -AsSecureString", "$token = Get-AzAccessToken -ResourceUrl https://x", "msbuild /p:Configuration=Release a.sln", "Set-Location C:\\Users\\bob", "ConvertTo-Json -Depth 5 $x",
		"vault kv get secret/app", "vault status", "vault kv put secret/app @data.json", "vault kv put secret/app key=@file", "vault policy write p p.hcl", "gh secret list", "gh pr create -b 'body text' -t title", "gh secret set FOO < file", "bw list items", "pass show x",
		"htpasswd -c f bob", "rabbitmqctl list_users", "sudo -S -v", "sudo passwd bob", "passwd bob", "kinit bob@EXAMPLE.COM", "cryptsetup status d", "useradd -m bob", "usermod -aG docker bob", "sqlplus / as sysdba", "sqlcmd -S h -E -Q 'select 1'", "7z x a.7z -oout", "zip -r a.zip d", "tar czf a.tgz d", "rar x a.rar",
		"security find-certificate -a", "certutil -hashfile a SHA256", "plink -batch h", "lftp h.example", "xfreerdp /v:h /u:bob", "snmpwalk -v2c h", "ipmitool -H h power status", "doctl compute list", "dotnet nuget list source", "twine check dist/*",
		"eas secret:list", "eas secret:create --name X --type file", "ansible-playbook --ask-become-pass site.yml", "helm install x y --set auth.existingSecret=my-secret", `echo "Enter password:" && read -s PW`, `read -sp "Password: " PASS`,
		"gcloud auth login", "wandb login", "snyk auth --help", "npm run login", "cloudflared service install", "convex env set NODE_ENV production", "node server.js --auth=basic --key server.key",
		"the token is expired", "password is required", "the password is wrong for user bob2", "error: secret \"db\" not found", "token is invalid: 401", "missing password or passphrase", "Enter password: ", "auth: ok", "auth=basic", "\"auth\": {\"type\":\"basic\"}", "creds: /etc/nats/app.creds", "auth: true", "[\"password\",\"username\"]", "\"required\":[\"name\",\"password\",\"email\"]", "func login(user, password string) error", "login('home')", "describe(\"password\")", "getToken(\"db\")", "auth(user, pw)", "t.Run(\"token\", func(t *testing.T) {",
		"volumes:\n- name: v\n  secret:\n    secretName: s", "secret:\n  name: x\n  key: y", "token:\n  - a\n", "password:\nnext line", "tls:\n  key: server.key", "env:\n- name: PORT\n  value: '80'", "{\"value\":\"3\",\"name\":\"replicas\"}", "key: value", "100% done", "date +%Y-%m-%d", "a%20b c%2Fd", "&amp;x=1", "“quoted” text", "naïve café — 東京", "\\u00e9t\\u00e9", "C:\\xampp\\x86", "let a: string = 'b'", "var name string = \"bob\"", "if len(token) == 0 {", "token, err := get()", "<input type=\"password\" name=\"p\">", "<password type=\"x\"/>", "<Token>", "x <- 5", "for f in *.go; do echo $f; done", "s.Split s.HasPrefix s.ThisIsALongerMethodNameOf3", "this.s.a", "a.b.c.d", "r.Header.Get(\"Authorization\")", "r.Header.Get(\"X-Api-Key\")", "os.Getenv(\"API_TOKEN\")", "Authorization: Bearer", "Authorization: none", "-H 'Authorization: Bearer $TOKEN'", "cat key.pem | base64", "kubectl config view --minify", "journalctl -u sshd --since '1 hour ago'", "systemctl set-environment A=b", "LC_ALL=C sort -u", "make -j8 test", "unset TOKEN", "export -p | grep -i token", "read -rs PASS", "select token from t where user = 'bob'", "insert into secrets values (1)", "alias set", "mc alias list", "mc alias set m https://h", "wpa_supplicant -B", "authtoken", "git alias set x y",
	} {
		require.Equal(t, s, Redact(s))
	}
}

// TestMasksOfCommandsKeepTheRest spells out what a reader still sees.
func TestMasksOfCommandsKeepTheRest(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`net use Z: \\srv\share ` + x + ` /user:bob`, `net use Z: \\srv\share [redacted] /user:bob`},
		{`{"pass\u0077ord":"` + x + `","n":1}`, `{"password":"[redacted]","n":1}`},
		{`requests.get(u, auth=("bob", "` + x + `"), timeout=3)`, `requests.get(u, auth=("bob", "[redacted]"), timeout=3)`},
		{`curl -sSu bob:` + x + ` https://h.example`, `curl -sSu bob:[redacted] https://h.example`},
		{`curl https://api.example/v1 -u sk_live_` + x + `: -d a=1`, `curl https://api.example/v1 -u [redacted]: -d a=1`},
		{`curl -u ghp_` + x + ` https://h`, `curl -u [redacted] https://h`},
		{`mc alias set m https://u:` + x + `@h AKIAIOSFODNN7EXAMPLE ` + x, `mc alias set m https://u:[redacted]@h [redacted] [redacted]`},
		{`curl -x u:` + x + `@proxy:3128 https://h`, `curl -x u:[redacted]@proxy:3128 https://h`},
		{`curl -x http://u:` + x + `@proxy:3128 https://h`, `curl -x http://u:[redacted]@proxy:3128 https://h`},
		{`-H "Authorization: Splunk ` + x + `" next`, `-H "Authorization: Splunk [redacted]" next`},
		{"password: |\n  " + x + "\n  " + x + "\nport: 80", "password: |\n  [redacted]\nport: 80"},
		{`printf '%s' ` + x + ` | docker login -u b --password-stdin r`, `printf '%s' [redacted] | docker login -u b --password-stdin r`},
		{`export TOKEN=${TOKEN:-` + x + `}; ls`, `export TOKEN=${TOKEN:[redacted]}; ls`},
		{`a%20b ` + x, `a%20b ` + x}, // without a name and a known shape
	} {
		require.Equal(t, tt.want, Redact(tt.in))
	}
}

func TestRedactOfCommandsIsLinear(t *testing.T) {
	for _, unit := range []string{"login ", "env set ", "password=\"a\n", "-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAA\n", "Cookie: a=b; ", "password:\" ", "\"password\":[", "password:\n ", "password: |\n  ", "password=\"\"\"", ssh2Key, "Private-Lines: 1", "curl -x a:", "<password ", "<password><![CDATA[", "<a:password b", "echo a | passwd ", "value=\"", "\"value\":\"\",",
		"auth=", "auth=\"", "auth=(\"a\",", "login(\"", "setPassword(\"", "\"password\",", "net use ", "htpasswd -b ", "sqlplus a/", "thin:", "rabbitmqctl add_user \"", "token Aa1Aa1Aa1Aa1 ", "\\u0070", "\\\\\\", "%70", "&quot;", "\u200b",
		"${TOKEN:-", "<(echo ", "kinit <<< ", "secret --from-literal=", "kv put a=", "apiKey: string = ", "set --secret a ", "$pw = Get-X", "\"password\"\n:", "bot123456789:", "LS0tLS1CRUdJTi", "PASS=$(a", "PASS=${a", "PASS=<a", "A_KEY="} {
		s := strings.Repeat(unit, 1<<20/len(unit))
		start := time.Now()
		out := Redact(s)
		require.Less(t, time.Since(start), 20*time.Second, "%q", unit)
		require.LessOrEqual(t, len(out), 12*len(s)+12)
	}
}

package ship

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/require"
)

// An issuer is an operator with one account that may use JetStream.
type issuer struct {
	t       *testing.T
	account nkeys.KeyPair
}

// issue returns the issuer and what makes a server trust it: the operator's
// claims, and a resolver that holds the account's in memory.
func issue(t *testing.T) (*issuer, func(*server.Options)) {
	t.Helper()
	operator, err := nkeys.CreateOperator()
	require.NoError(t, err)
	account, err := nkeys.CreateAccount()
	require.NoError(t, err)
	oc := jwt.NewOperatorClaims(public(t, operator))
	token, err := oc.Encode(operator)
	require.NoError(t, err)
	oc, err = jwt.DecodeOperatorClaims(token)
	require.NoError(t, err)

	ac := jwt.NewAccountClaims(public(t, account))
	ac.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: jwt.NoLimit, DiskStorage: jwt.NoLimit, Streams: jwt.NoLimit, Consumer: jwt.NoLimit}
	token, err = ac.Encode(operator)
	require.NoError(t, err)
	resolver := &server.MemAccResolver{}
	require.NoError(t, resolver.Store(ac.Subject, token))

	// JetStream wants an account of the server's own beside it.
	system, err := nkeys.CreateAccount()
	require.NoError(t, err)
	sc := jwt.NewAccountClaims(public(t, system))
	token, err = sc.Encode(operator)
	require.NoError(t, err)
	require.NoError(t, resolver.Store(sc.Subject, token))
	return &issuer{t, account}, func(o *server.Options) {
		o.TrustedOperators = []*jwt.OperatorClaims{oc}
		o.AccountResolver = resolver
		o.SystemAccount = sc.Subject
	}
}

// creds writes the credentials of a new user of the account.
func (i *issuer) creds(change func(*jwt.UserClaims)) string {
	i.t.Helper()
	user, err := nkeys.CreateUser()
	require.NoError(i.t, err)
	uc := jwt.NewUserClaims(public(i.t, user))
	if change != nil {
		change(uc)
	}
	token, err := uc.Encode(i.account)
	require.NoError(i.t, err)
	seed, err := user.Seed()
	require.NoError(i.t, err)
	b, err := jwt.FormatUserConfig(token, seed)
	require.NoError(i.t, err)
	path := filepath.Join(i.t.TempDir(), "user.creds")
	require.NoError(i.t, os.WriteFile(path, b, 0o600))
	return path
}

func public(t *testing.T, k nkeys.KeyPair) string {
	t.Helper()
	p, err := k.PublicKey()
	require.NoError(t, err)
	return p
}

// A server that knows operators and accounts by their JWTs. The host's user may
// publish its own events and nothing else.
func TestCredsFile(t *testing.T) {
	known, trust := issue(t)
	srv := startServer(t, trust)
	l := newTestLog(t)
	l.add(5)

	admin := l.options(srv.url)
	admin.CredsFile = known.creds(nil)
	_, _, err := CreateStream(bg, admin, StreamSpec{})
	require.NoError(t, err)

	box := l.options(srv.url)
	box.CredsFile = known.creds(func(c *jwt.UserClaims) {
		c.Pub.Allow.Add("hooktrail.audit.v1.box1.>")
		c.Sub.Allow.Add("_INBOX.>")
	})
	require.NoError(t, Inline(bg, box, 5*time.Second))
	l.add(5)
	_, err = Run(bg, box)
	require.NoError(t, err)
	seen := 0
	require.NoError(t, Tail(bg, admin, TailOptions{}, func([]byte) error { seen++; return nil }))
	require.Equal(t, 10, seen)
	require.ErrorIs(t, Tail(bg, box, TailOptions{}, func([]byte) error { return nil }), ErrNoRead)

	// What does not log in ships nothing, is said, and quotes neither JWT nor seed.
	stranger, _ := issue(t)
	l.add(1)
	for name, file := range map[string]string{
		"another account": stranger.creds(nil),
		"expired":         known.creds(func(c *jwt.UserClaims) { c.Expires = time.Now().Add(-time.Minute).Unix() }),
		"missing":         filepath.Join(t.TempDir(), "none.creds"),
		"no credentials":  secretFile(t, "SUAsecret"),
		"none given":      "",
	} {
		t.Run(name, func(t *testing.T) {
			o := l.options(srv.url)
			o.CredsFile = file
			_, err := Run(bg, o)
			require.Error(t, err)
			b, rerr := os.ReadFile(DefaultCursor(l.path))
			require.NoError(t, rerr)
			require.NotRegexp(t, `SU[A-Z0-9]{10}|SUAsecret|eyJ`, joined(err)+string(b))
		})
	}
	res, err := Run(bg, box)
	require.NoError(t, err)
	require.EqualValues(t, 1, res.Acked)
}

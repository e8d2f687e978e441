package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"hooktrail/internal/answer"
	"hooktrail/internal/audit"
	"hooktrail/internal/natsd"
	"hooktrail/internal/serve"
	"hooktrail/internal/ship"
)

const serveAbout = `
Answers hooks of type "http": POST /hook takes an event and answers as "hooktrail
hook" does, always with status 200; only a missing or wrong bearer token gets 401.
Set onFailure to "block" at the hook entry: a server that is not there blocks
nothing by itself. /metrics, /healthz and /readyz tell how it is. When a NATS
server is set, the log is shipped as "hooktrail ship --follow" does. SIGTERM ends
it after the calls under way.`

func runServe(ctx context.Context, s *Stdio, args []string) int {
	fl := newFlags(s, "serve", "[FLAGS]", serveAbout)
	var f shipFlags
	f.register(fl)
	var (
		listen     = fl.String("listen", "", "loopback `address` for hooks (default 127.0.0.1:8377)")
		socket     = fl.String("socket", "", "Unix `socket` for hooks")
		tokenFile  = fl.String("token-file", "", "`file` with the bearer token; made when missing (default serve.token beside the log)")
		metricsOn  = fl.String("metrics", "", "`address` of its own for /metrics, /healthz and /readyz")
		remote     = fl.Bool("allow-remote", false, "permit addresses that other machines reach; the token goes over the wire as it is")
		embedded   = fl.Bool("embedded-nats", false, "run a nats-server in this process and ship to it")
		natsDir    = fl.String("nats-dir", "", "with --embedded-nats: `folder` of its streams (default nats beside the log)")
		natsListen = fl.String("nats-listen", "", "with --embedded-nats: loopback `address` for readers, token in nats.token beside the log")
	)
	if status, ok := parse(s, fl, args); !ok {
		return status
	}
	if fl.NArg() > 0 {
		return serveFailed(s, fmt.Errorf("unexpected argument %q", fl.Arg(0)))
	}
	set, err := f.load(s)
	if err != nil {
		return serveFailed(s, err)
	}
	f.apply(&set)
	set.Serve.Listen, set.Serve.Socket = cmp.Or(*listen, set.Serve.Listen), cmp.Or(*socket, set.Serve.Socket)
	set.Serve.TokenFile = cmp.Or(*tokenFile, set.Serve.TokenFile, filepath.Join(filepath.Dir(set.Log), "serve.token"))
	set.Serve.Metrics = cmp.Or(*metricsOn, set.Serve.Metrics)

	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	w := &service{s: s, set: &set, say: warner(s)}
	if *embedded {
		if err := w.startNATS(ctx, *natsDir, *natsListen); err != nil {
			return serveFailed(s, err)
		}
		defer w.nats.Stop()
	} else if *natsDir != "" || *natsListen != "" {
		return serveFailed(s, errors.New("--nats-dir and --nats-listen go with --embedded-nats"))
	}
	if err := w.run(ctx, *remote); err != nil {
		return serveFailed(s, err)
	}
	return exitOK
}

func serveFailed(s *Stdio, err error) int {
	return s.fail("serve", "%s", printable(ship.MaskURL(err.Error())))
}

// warner says things on standard error, one at a time.
func warner(s *Stdio) func(string) {
	var mu sync.Mutex
	return func(text string) {
		mu.Lock()
		defer mu.Unlock()
		s.fail("serve", "%s", printable(audit.Redact(ship.MaskURL(text))))
	}
}

// A service is what serve runs.
type service struct {
	s    *Stdio
	set  *settings
	say  func(string)
	nats *natsd.Server // nil without --embedded-nats
	// natsToken is the file with its token; empty when it has no socket.
	natsToken string
}

// startNATS starts the embedded server and makes the stream.
func (w *service) startNATS(ctx context.Context, dir, listen string) error {
	beside := filepath.Dir(w.set.Log)
	o := natsd.Options{Dir: cmp.Or(dir, filepath.Join(beside, "nats")), Listen: listen}
	if listen != "" {
		w.natsToken = filepath.Join(beside, "nats.token")
		token, _, err := serve.Token(w.natsToken)
		if err != nil {
			return err
		}
		o.Token = token
	}
	srv, err := natsd.Start(o)
	if err != nil {
		return err
	}
	w.nats = srv
	if _, _, err := ship.CreateStream(ctx, w.shipOptions(), ship.StreamSpec{}); err != nil {
		srv.Stop()
		return err
	}
	if listen != "" {
		w.say("nats-server listens on " + srv.URL())
	}
	return nil
}

func (w *service) shipOptions() ship.Options {
	o := shipOptions(w.s, w.set)
	if w.nats != nil {
		o.Conn = ship.Conn{InProcess: w.nats, TokenFile: w.natsToken}
	}
	return o
}

// run serves until ctx ends.
func (w *service) run(ctx context.Context, remote bool) error {
	token, made, err := serve.Token(w.set.Serve.TokenFile)
	if err != nil {
		return err
	}
	if made {
		w.say("made a token in " + w.set.Serve.TokenFile)
	}
	log, err := w.set.open(w.s)
	if err != nil {
		return err
	}
	group := serve.NewGroupLog(log, 0)
	defer group.Close()
	m := serve.NewMetrics()
	flow := newHookOn(w.s, w.set, nil, m.Counting(group))
	srv, err := serve.New(serve.Options{
		Handler: func(ctx context.Context, body io.Reader) answer.Reply { return flow.Run(ctx, body) },
		Token:   token, Listen: w.set.Serve.Listen, Socket: w.set.Serve.Socket, MetricsListen: w.set.Serve.Metrics,
		AllowRemote: remote, Metrics: m, Ready: group.Err, Warn: w.say, Now: w.s.Now,
	})
	if err != nil {
		return err
	}
	for _, a := range srv.Addrs() {
		w.say("listens on " + a)
	}

	// The side work ends after the last call was answered.
	side, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var wg sync.WaitGroup
	w.watch(side, &wg, m)
	w.ship(side, &wg, m)
	err = srv.Run(ctx)
	group.Close()
	cancel()
	wg.Wait()
	if o := w.shipOptions(); o.URL != "" || o.InProcess != nil {
		last, stop := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
		defer stop()
		if _, serr := ship.Run(last, o); serr != nil {
			w.say("not all is shipped; the log keeps it: " + serr.Error())
		}
	}
	return err
}

// watch counts the events of the log, whichever process writes them.
func (w *service) watch(ctx context.Context, wg *sync.WaitGroup, m *serve.Metrics) {
	o := w.shipOptions()
	var mu sync.Mutex
	var written uint64
	seen := func(e ship.Meta) {
		mu.Lock()
		defer mu.Unlock()
		written = e.Seq
	}
	m.Gauge("hooktrail_log_last_seq", func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return float64(written)
	})
	if o.URL != "" || o.InProcess != nil {
		m.Gauge("hooktrail_ship_backlog", func() float64 {
			shipped := ship.ReadCursor(o).At.Seq
			mu.Lock()
			defer mu.Unlock()
			return max(0, float64(written)-float64(shipped))
		})
	}
	wg.Go(func() {
		ship.Watch(ctx, o.Log, 250*time.Millisecond, seen, func(e ship.Meta) { seen(e); m.Event(e) })
	})
}

// ship ships in the background when there is a server to ship to.
func (w *service) ship(ctx context.Context, wg *sync.WaitGroup, m *serve.Metrics) {
	o := w.shipOptions()
	if o.URL == "" && o.InProcess == nil {
		return
	}
	m.Shipping(o)
	wg.Go(func() {
		_, err := ship.Follow(ctx, o, func(err error) {
			if err == nil {
				w.say("shipping works again")
				return
			}
			w.say("shipping: " + err.Error())
		})
		if err != nil {
			w.say("shipping: " + err.Error())
		}
	})
}

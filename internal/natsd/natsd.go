// Package natsd runs the real nats-server in the process: JetStream on disk,
// every write synced before it is acknowledged.
//
// It is for one machine. It listens on loopback or not at all, and refuses any
// other address: production is a NATS cluster or a leaf node of one. It is a
// package of its own because the server is heavy; nothing a hook runs imports it.
package natsd

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Options configure a Server. Dir is needed.
type Options struct {
	// Dir holds the streams. It is made with mode 0700.
	Dir string
	// Listen is a loopback address and port, such as 127.0.0.1:4222. Empty
	// means that no socket is opened and only this process connects.
	Listen string
	// Token is what clients on the socket must present. It must be set when
	// Listen is: every user of the machine can reach a loopback port.
	Token string
	// MaxPayload is the largest message, headers included. Zero means 1 MiB.
	MaxPayload int32
	// StartTimeout bounds the start. Zero means 10 s.
	StartTimeout time.Duration
}

// A Server is a running nats-server.
type Server struct {
	s *server.Server
}

// Start starts a server and returns when it takes connections.
func Start(o Options) (*Server, error) {
	if o.Dir == "" {
		return nil, errors.New("start nats-server: no directory is set")
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("start nats-server: %w", err)
	}
	so := &server.Options{
		ServerName:      "hooktrail",
		DontListen:      true,
		NoSigs:          true,
		NoLog:           true,
		JetStream:       true,
		StoreDir:        o.Dir,
		SyncAlways:      true,
		MaxPayload:      o.MaxPayload,
		NoSystemAccount: true,
	}
	if o.Listen != "" {
		if o.Token == "" {
			return nil, errors.New("start nats-server: a listening server needs a token")
		}
		host, port, err := loopback(o.Listen)
		if err != nil {
			return nil, err
		}
		so.DontListen, so.Host, so.Port, so.Authorization = false, host, port, o.Token
	}
	s, err := server.NewServer(so)
	if err != nil {
		return nil, fmt.Errorf("start nats-server: %w", err)
	}
	s.Start()
	wait := o.StartTimeout
	if wait <= 0 {
		wait = 10 * time.Second
	}
	if !s.ReadyForConnections(wait) {
		s.Shutdown()
		return nil, fmt.Errorf("start nats-server: not ready within %v; is the address or %s in use?", wait, o.Dir)
	}
	if !s.JetStreamEnabled() {
		s.Shutdown()
		return nil, fmt.Errorf("start nats-server: JetStream cannot use %s", o.Dir)
	}
	return &Server{s: s}, nil
}

// InProcessConn connects without a socket. It makes a Server usable as the
// InProcess of a connection.
func (s *Server) InProcessConn() (net.Conn, error) { return s.s.InProcessConn() }

// URL returns the address of the socket without the token, or "" when there is
// none.
func (s *Server) URL() string { return s.s.ClientURL() }

// Stop ends the server and waits until its files are closed.
func (s *Server) Stop() {
	s.s.Shutdown()
	s.s.WaitForShutdown()
}

// loopback splits an address that only this machine can reach.
func loopback(addr string) (string, int, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, fmt.Errorf("start nats-server: %w", err)
	}
	ip := net.ParseIP(host)
	if host == "localhost" {
		ip = net.IPv4(127, 0, 0, 1)
	}
	if ip == nil || !ip.IsLoopback() {
		return "", 0, fmt.Errorf("start nats-server: %s is no loopback address; use a NATS cluster or a leaf node", addr)
	}
	n, err := strconv.Atoi(port)
	if err != nil || n < 0 || n > 65535 {
		return "", 0, fmt.Errorf("start nats-server: %q is no port", port)
	}
	if n == 0 {
		n = server.RANDOM_PORT
	}
	return ip.String(), n, nil
}

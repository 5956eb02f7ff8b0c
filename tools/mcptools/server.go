package mcptools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/runcode-go/runcode/pipeline/redact"
)

const (
	defaultStart = 30 * time.Second
	defaultCall  = 5 * time.Minute

	firstDelay = time.Second
	lastDelay  = time.Minute
	// settleDelay is how long changes of a list are collected before it is read
	// again.
	settleDelay = 100 * time.Millisecond
)

// State is what a server is doing.
type State string

// The states of a server.
const (
	Starting State = "starting" // for the first time
	Idle     State = "idle"     // lazy, and not called yet
	Ready    State = "ready"
	Down     State = "down" // it is started again after a while
	Closed   State = "closed"
)

// Status says how a server is. Its texts hold no secret of the configuration;
// those of the server are for people, and what shows them must escape them.
type Status struct {
	Server  string
	State   State
	Reason  string        // why it is Down
	Again   time.Duration // how long after that it is started again
	Stderr  string        // what its program last wrote to its standard error, shortened
	Tools   []string      // the names under which its tools are registered
	LeftOut []Omission    // tools it has and that cannot be used
	Notes   []string      // what is not as the server declares it
}

// server is one configured server, whatever becomes of its connections.
type server struct {
	name    string
	cfg     Server
	client  *Client
	secrets *redact.Redactor
	dial    func() (*peer, error)

	wake    chan struct{} // a call wants the server; holds one
	changed chan struct{} // the list may have changed; holds one

	mu      sync.Mutex
	status  Status // without Stderr and Tools
	stderr  func() string
	session *session             // while it is ready
	tools   map[string]*imported // by registered name
	noise   string               // the first line on its standard output that was no message
	turned  chan struct{}        // closed, and made anew, when the state changes
}

func newServer(c *Client, name string, cfg Server) *server {
	cfg.StartTimeout = cmp.Or(cfg.StartTimeout, defaultStart)
	cfg.CallTimeout = cmp.Or(cfg.CallTimeout, defaultCall)
	s := &server{
		name: name, cfg: cfg, client: c, secrets: cfg.redactor(),
		wake: make(chan struct{}, 1), changed: make(chan struct{}, 1), turned: make(chan struct{}),
		status: Status{Server: name, State: Starting},
	}
	s.dial = s.reach
	return s
}

// reach starts the program of the server, or gets ready to speak to its address.
func (s *server) reach() (*peer, error) {
	if s.cfg.kind() != TypeStdio {
		transport, forget, err := httpTransport(s.cfg)
		if err != nil {
			return nil, err
		}
		return &peer{transport: transport, stderr: func() string { return "" }, end: func(time.Duration) string { forget(); return "" }}, nil
	}
	p, err := startProgram(s.cfg, s.client.opts.Dir)
	if err != nil {
		return nil, faultf("cannot be started: %v", err)
	}
	return &peer{
		transport: &lineTransport{in: p.Stdout, out: p.Stdin, noise: s.heard},
		exited:    p.Exited(),
		stderr:    func() string { return stderrText(p.Stderr()) },
		end:       func(grace time.Duration) string { return howEnded(p.End(grace)) },
	}, nil
}

// heard remembers text on the standard output that is no message.
func (s *server) heard(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.noise == "" {
		s.noise = line
	}
}

// run keeps the server going until ctx ends. first is called once its tools are
// known or known to be missing.
func (s *server) run(ctx context.Context, first func()) {
	defer first()
	defer s.turn(Closed, "", 0)
	if s.restore() {
		s.turn(Idle, "", 0)
		first()
		select {
		case <-s.wake:
			s.turn(Starting, "", 0)
		case <-ctx.Done():
			return
		}
	}
	for delay := firstDelay; ; delay = min(2*delay, lastDelay) {
		begun := time.Now()
		why := s.live(ctx, first)
		if ctx.Err() != nil {
			return
		}
		if time.Since(begun) > lastDelay { // it was well for a while
			delay = firstDelay
		}
		s.turn(Down, "it "+why, delay)
		first()
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// live is one life of the server. It returns why that ended, as a predicate.
func (s *server) live(ctx context.Context, ready func()) (why string) {
	session, err := s.start(ctx)
	if err != nil {
		return err.Error()
	}
	s.mu.Lock()
	s.session = session
	s.mu.Unlock()
	s.turn(Ready, "", 0)
	ready()
	s.attend(ctx, session)
	s.mu.Lock()
	s.session = nil
	s.mu.Unlock()
	return s.finish(session, nil)
}

// finish ends a session and says why it had to end: err, or if that is nil what
// became of the connection.
func (s *server) finish(session *session, err error) string {
	grace := goodbye
	select {
	case <-session.ended: // its program is going, or will not go by itself
		grace = lastWords
	default:
	}
	how := session.close(grace)
	if err == nil {
		err = session.err
	}
	return s.secrets.Text(reason(how, err))
}

// reason adds how the program ended to what became of the connection. A program
// that was asked to go for another reason need not have ended by itself.
func reason(how string, err error) string {
	what := described(err)
	if how == "" || what != connectionEnded {
		return what
	}
	return fmt.Sprintf("%s: %s", what, how)
}

// start connects and reads the list of tools, within the time that is given.
func (s *server) start(ctx context.Context) (started *session, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer func() {
		if started == nil {
			cancel(nil)
		}
	}()
	late := faultf("did not say within %v what tools it has; see startTimeout", s.cfg.StartTimeout)
	timer := time.AfterFunc(s.cfg.StartTimeout, func() { cancel(late) })
	defer timer.Stop()
	session, how, err := s.open(ctx, cancel, usualVersion)
	if refusesVersion(err) {
		if newer, _, again := s.open(ctx, cancel, newestVersion); again == nil {
			session, err = newer, nil
		}
	}
	if err != nil {
		return nil, errors.New(s.secrets.Text(reason(how, causeOf(ctx, err))))
	}
	texts, err := session.list(ctx)
	if err == nil && !timer.Stop() {
		err = late
	}
	if err != nil {
		return nil, errors.New(s.finish(session, causeOf(ctx, err)))
	}
	s.install(texts)
	s.remember(texts)
	return session, nil
}

// open makes a session in a version of the protocol. how says how its program
// ended if there is none.
func (s *server) open(ctx context.Context, cancel context.CancelCauseFunc, version string) (_ *session, how string, err error) {
	peer, err := s.dial()
	if err != nil {
		return nil, "", err
	}
	s.mu.Lock()
	s.stderr = peer.stderr
	s.mu.Unlock()
	session, err := connect(ctx, cancel, peer, version, s.listChanged)
	if err != nil {
		return nil, peer.end(lastWords), err
	}
	return session, "", nil
}

// causeOf is why a context ended, or err if it has not.
func causeOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (s *server) listChanged() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// attend reads the list again whenever it changes, until the session ends.
func (s *server) attend(ctx context.Context, session *session) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-session.ended:
			return
		case <-s.changed:
		}
		timer := time.NewTimer(settleDelay)
		select {
		case <-timer.C:
		case <-session.ended:
			timer.Stop()
			return
		case <-ctx.Done():
			timer.Stop()
			return
		}
		s.relist(ctx, session)
	}
}

func (s *server) relist(ctx context.Context, session *session) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.cfg.StartTimeout, faultf("did not answer within %v", s.cfg.StartTimeout))
	defer cancel()
	texts, err := session.list(ctx)
	if err != nil {
		s.note("its changed list of tools is not used: it " + described(causeOf(ctx, err)))
	} else {
		s.install(texts)
		s.remember(texts)
	}
	s.client.tell(s)
}

// note adds to what is said of the present list of tools.
func (s *server) note(text string) {
	text = s.secrets.Text(text)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.status.Notes, text) {
		s.status.Notes = append(slices.Clip(s.status.Notes), text)
	}
}

// install makes a list of tools the server's, in the registries too.
func (s *server) install(texts []string) {
	now, left, notes := s.importAll(texts, s.registered())
	s.mu.Lock()
	s.tools, s.status.LeftOut, s.status.Notes = now, left, notes
	s.mu.Unlock()
	s.client.publish(s)
}

// turn changes the state; why and again are those of Down.
func (s *server) turn(state State, why string, again time.Duration) {
	s.mu.Lock()
	s.status.State, s.status.Reason, s.status.Again = state, why, again
	close(s.turned)
	s.turned = make(chan struct{})
	s.mu.Unlock()
	s.client.tell(s)
}

// registered lists the tools by name.
func (s *server) registered() map[string]*imported {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools // replaced as a whole, never changed
}

// report is the server's Status.
func (s *server) report() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.status
	r.LeftOut, r.Notes = slices.Clone(r.LeftOut), slices.Clone(r.Notes)
	r.Tools = sortedKeys(s.tools)
	if s.stderr != nil {
		r.Stderr = s.secrets.Text(s.stderr())
	}
	if s.noise != "" {
		r.Notes = append(r.Notes, fmt.Sprintf("it writes text to its standard output, which is for messages: %.100q", s.secrets.Text(s.noise)))
	}
	return r
}

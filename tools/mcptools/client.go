package mcptools

import (
	"context"
	"fmt"
	"sync"

	"github.com/runcode-go/runcode/tools"
)

// Options are what all servers of a Client share. The zero value is useful.
type Options struct {
	// Dir is where programs run; empty means the current directory.
	Dir string
	// CacheDir is where lists of tools are kept for lazy servers. It must exist
	// and be the user's own. Empty: none are kept, and lazy servers start at
	// once.
	CacheDir string
	// OnStatus is told when a server changes its state or its tools. It must not
	// block and must not call Close; calls for different servers overlap.
	OnStatus func(Status)
}

// Client is connected to some servers. It is safe for concurrent use.
type Client struct {
	opts    Options
	servers []*server // by name
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu       sync.Mutex // held while registries are changed
	attached map[*attachment]bool
}

// Connect starts the servers of a configuration together and returns when each
// has been started, has failed or is lazy. A server that fails is no error; see
// Status. An error means that the configuration is wrong or that ctx ended, which
// ends all servers; the client does not otherwise depend on ctx. Close must be
// called.
func Connect(ctx context.Context, cfg Config, opts *Options) (*Client, error) {
	c, err := newClient(cfg, opts)
	if err != nil {
		return nil, err
	}
	if err := c.start(ctx); err != nil {
		return nil, err
	}
	return c, nil
}

func newClient(cfg Config, opts *Options) (*Client, error) {
	if opts == nil {
		opts = &Options{}
	}
	c := &Client{opts: *opts, attached: map[*attachment]bool{}}
	for _, name := range sortedKeys(cfg.Servers) {
		if err := checkName(name); err != nil {
			return nil, fmt.Errorf("cannot connect to MCP servers: %w", err)
		}
		if err := cfg.Servers[name].check(); err != nil {
			return nil, fmt.Errorf("cannot connect to MCP servers: the server %q %w", name, err)
		}
		c.servers = append(c.servers, newServer(c, name, cfg.Servers[name]))
	}
	return c, nil
}

func (c *Client) start(ctx context.Context) error {
	life, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	var started sync.WaitGroup
	for _, s := range c.servers {
		started.Add(1)
		c.running.Go(func() { s.run(life, sync.OnceFunc(started.Done)) })
	}
	all := make(chan struct{})
	go func() {
		started.Wait()
		close(all)
	}()
	select {
	case <-all:
		return nil
	case <-ctx.Done():
		_ = c.Close()
		<-all
		return fmt.Errorf("cannot connect to MCP servers: %w", context.Cause(ctx))
	}
}

// Close ends all connections and the programs that were started, with all that
// these have started, and waits for that. Registered tools remain; their calls
// fail. It may be called twice.
func (c *Client) Close() error {
	c.cancel()
	c.running.Wait()
	return nil
}

// Status says how the servers are, by name.
func (c *Client) Status() []Status {
	all := make([]Status, len(c.servers))
	for i, s := range c.servers {
		all[i] = c.status(s)
	}
	return all
}

// status is a server's, with the tools that some registry did not take.
func (c *Client) status(s *server) Status {
	r := s.report()
	c.mu.Lock()
	defer c.mu.Unlock()
	for a := range c.attached {
		for _, name := range sortedKeys(a.refused[s]) {
			r.LeftOut = append(r.LeftOut, s.omission(name, a.refused[s][name]))
		}
	}
	return r
}

// tell tells OnStatus.
func (c *Client) tell(s *server) {
	if c.opts.OnStatus == nil {
		return
	}
	defer func() { _ = recover() }() // the embedder's fault must not end the server
	c.opts.OnStatus(c.status(s))
}

// Registrar is where tools are registered: a *tools.Registry, or the tools of one
// agent (pipeline.Scope).
type Registrar interface {
	Add(defs ...*tools.Definition) (remove func(), err error)
}

// Register adds the tools of all servers and keeps them up to date: tools that
// appear are added, those that are gone are removed, and those whose
// definitions have changed are replaced. A tool the registrar refuses is left
// out; see Status. The returned function removes them and ends this.
func (c *Client) Register(to Registrar) (remove func()) {
	a := &attachment{to: to, added: map[*server]map[string]added{}, refused: map[*server]map[string]string{}}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.attached[a] = true
	for _, s := range c.servers {
		a.sync(s, s.registered())
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.attached, a)
		for _, s := range c.servers {
			a.sync(s, nil)
		}
	}
}

// publish brings the registries up to date with a server's tools.
func (c *Client) publish(s *server) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for a := range c.attached {
		a.sync(s, s.registered())
	}
}

// attachment is a registrar that follows the servers.
type attachment struct {
	to      Registrar
	added   map[*server]map[string]added  // by registered name
	refused map[*server]map[string]string // reasons
}

type added struct {
	tool   *imported
	remove func()
}

func (a *attachment) sync(s *server, now map[string]*imported) {
	have := a.added[s]
	if have == nil {
		have = map[string]added{}
		a.added[s] = have
	}
	for name, old := range have {
		if now[name] != old.tool {
			old.remove()
			delete(have, name)
		}
	}
	a.refused[s] = map[string]string{}
	for _, name := range sortedKeys(now) {
		if _, ok := have[name]; ok {
			continue
		}
		remove, err := a.to.Add(now[name].def)
		if err != nil {
			a.refused[s][name] = err.Error()
			continue
		}
		have[name] = added{now[name], remove}
	}
}

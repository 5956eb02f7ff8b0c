package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/runcode-go/runcode/codemode/mcpserver"
)

// serveFlags are the flags of `runcode serve`.
type serveFlags struct {
	sessionFlags
	http           string
	hosts, origins []string
}

// tokenVariable holds the token that HTTP clients must send.
const tokenVariable = "RUNCODE_TOKEN"

// endpoint is the path of the MCP endpoint.
const endpoint = "/mcp"

func newServeCommand(s *streams) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Offer run_code to MCP clients",
		Long: "serve is an MCP server with the tool run_code, and in the mode both with the tools\n" +
			"themselves, over standard input and output or, with --http, over streamable HTTP. Rules,\n" +
			"hooks and log are those of runcode run. What needs approval is asked through the client\n" +
			"(elicitation); where it cannot ask, the call is denied.\n\n" +
			"Over HTTP every request needs the token of the environment variable " + tokenVariable + "; if there is\n" +
			"none, one is made for this run and printed. Each client is an agent of its own.\n\n" +
			"Exit status: 0 ended as asked, 1 it could not serve, 2 usage or configuration.",
		Example: "  runcode serve --root project\n" +
			"  runcode serve --mode both --events log.jsonl\n" +
			"  " + tokenVariable + "=... runcode serve --http 127.0.0.1:8722",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(commandContext(cmd), s, &f) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.http, "http", "", "serve HTTP at this `address`, such as 127.0.0.1:8722, instead of standard input and output")
	flags.StringArrayVar(&f.hosts, "host", nil, "a `name` beside loopback's under which HTTP requests may come (repeatable)")
	flags.StringArrayVar(&f.origins, "origin", nil, "the `origin` of web pages that may send HTTP requests (repeatable; default none)")
	f.registerTools(flags)
	flags.StringVar(&f.mode, "mode", "code", "the `mode` in which tools are presented: code, both or native")
	f.registerRecord(flags)
	f.registerRest(flags)
	_ = flags.MarkHidden("json")
	return cmd
}

func serve(ctx context.Context, s *streams, f *serveFlags) error {
	if f.json {
		return errors.New("--json is not for serve, which speaks MCP")
	}
	if f.http == "" && len(f.hosts)+len(f.origins) > 0 {
		return errors.New("--host and --origin are about HTTP; add --http ADDRESS")
	}
	ses, err := readSession(s, &f.sessionFlags)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(ctx, func() {
		ses.note("interrupted; waiting for calls that run to return (interrupt again to end at once)")
	})
	defer stop()
	clients := mcpserver.New(&mcpserver.Options{Version: version()})
	if err := ses.open(ctx, audience{clients: clients}); err != nil {
		return err
	}
	clients.Attach(ses.pipeline, ses.codemode)
	if f.http == "" {
		err = clients.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(s.in), Writer: standardOutput{s.out}})
	} else {
		err = f.listen(ctx, ses, clients)
	}
	// In this order: calls settle, then what they wrote to is closed.
	if err := errors.Join(err, clients.Close(), ses.close()); err != nil {
		return &programFailed{err}
	}
	return nil
}

// standardOutput stays open when a connection ends.
type standardOutput struct{ io.Writer }

func (standardOutput) Close() error { return nil }

// Bounds of HTTP connections. Answers have none: a call may take as long as its
// limits allow.
const (
	headerTime  = 10 * time.Second
	readTime    = 30 * time.Second // of what is no request to the endpoint, which has its own
	idleTime    = 2 * time.Minute
	maxHeader   = 64 << 10
	leavingTime = 5 * time.Second
)

// listen serves HTTP until ctx ends.
func (f *serveFlags) listen(ctx context.Context, ses *session, clients *mcpserver.Server) error {
	token := strings.TrimSpace(os.Getenv(tokenVariable))
	if token == "" {
		token = rand.Text()
		fmt.Fprintf(ses.console.err, "%s is not set; the token of this run is %s\n", tokenVariable, token)
	}
	handler, err := clients.Handler(mcpserver.HTTPOptions{Tokens: map[string]string{token: "token"}, Hosts: f.hosts, Origins: f.origins})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle(endpoint, handler)
	listener, err := net.Listen("tcp", f.http)
	if err != nil {
		return fmt.Errorf("--http: %w", err)
	}
	if addr, ok := listener.Addr().(*net.TCPAddr); ok && !addr.IP.IsLoopback() {
		ses.note("others on the network can reach this server; whoever has the token can make calls")
	}
	ses.note("serving http://%s%s", listener.Addr(), endpoint)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: headerTime, ReadTimeout: readTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	_ = clients.Close() // calls settle, so that their answers can still be sent
	leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), leavingTime)
	defer cancel()
	if server.Shutdown(leaving) != nil {
		_ = server.Close() // streams that clients keep open
	}
	<-ended
	return nil
}

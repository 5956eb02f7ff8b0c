// Package mcptools imports the tools of MCP servers: programs that speak over
// their standard streams, and servers on HTTP, both of today's streamable kind
// and of the older one with server-sent events.
//
//	cfg, err := mcptools.Load(".mcp.json")
//	if err != nil { ... }
//	client, err := mcptools.Connect(ctx, cfg, nil)
//	if err != nil { ... }
//	defer client.Close()
//	defer client.Register(registry)()
//
// # Names and policy
//
// The tool t of server s is registered as mcp__s__t. Package pipeline/permission
// asks about every such tool unless a rule allows it. What a server says of its
// tools (that they only read, that they may be repeated) is believed only of a
// server the operator marks as Server.Trusted; of any other a tool is taken to
// be destructive.
//
// # Servers come and go
//
// Servers are started at once and together; Connect returns when each has
// answered or failed. One that fails costs its own tools only, and
// Client.Status says why. A server that dies is started again, after a second,
// then two, four, up to a minute; calls meanwhile fail with CodeServerDown. When
// a server says that its list of tools has changed, it is read again and the
// registries follow: a definition that differs is another tool, so a call that
// was decided for the old one fails with TOOL_CHANGED.
//
// A Server.Lazy server is started by the first call. Its tools are those it
// had the last time, kept in Options.CacheDir; without such a list it starts at
// once.
//
// # Values
//
// The value of a call is its structured content. An object {result: x} whose
// schema is marked x-fastmcp-wrap-result is x, and so is the tool's output
// type. Without structured content it is the text, which is read as JSON only if
// the output schema allows no string there; a result with resources is the list
// of its blocks, images and audio left out. All blocks, images too, are content.
// Values pass without a detour through Go's numbers, so large integers, -0 and
// the order of keys are what the server sent. A result that says isError is an
// error with the result's text.
//
// # What a server gets and may do
//
// A program gets a session and an environment of its own: a few variables without
// secrets and those of its configuration. It and all it has started end with
// Close. An HTTP server is reached without a proxy; headers of the configuration
// go to its own origin only, and a redirect to another is refused. The address
// itself is the operator's choice: loopback and private ones are allowed.
// No server is offered sampling, elicitation or roots. Messages have at most 16
// MiB, lists at most 2,000 tools, and every call has a time limit.
//
// Values of env and headers, and of variables a configuration names, do not
// appear in errors, in Status, or in the descriptions of tools, if they have at
// least six bytes. Results are not touched; Config.Secrets is for the redactors
// of logs and screens.
package mcptools

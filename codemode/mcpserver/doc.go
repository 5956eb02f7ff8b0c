// Package mcpserver offers run_code to MCP clients, over stdio or streamable HTTP.
//
// A Server stands before a pipeline and a CodeMode. It is made first, because both
// are told of it:
//
//	server := mcpserver.New(nil)
//	p := pipeline.New(reg, &pipeline.Options{Approver: server, Sink: server})
//	cm, err := codemode.New(p, &codemode.Options{OnLog: server.Log})
//	...
//	server.Attach(p, cm)
//	err = server.Run(ctx, &mcp.StdioTransport{})
//
// Every client that connects is an agent of its own (*Client): its calls, rules,
// questions and worker processes are apart from those of others. It sees the tools
// of its scope in the mode in force: run_code with the declarations in its
// description, since MCP knows no system prompt, search_tools where these exceed
// the budget, and in the modes both and native the tools themselves.
//
// Sub-calls become progress notifications, console lines log messages (MCP spec,
// logging), approvals elicitations. A client that does not know elicitation cannot
// be asked, which denies.
//
// A client has at most a thousand calls that run or wait. What it sends that is no
// message ends its connection over stdio, and is refused over HTTP.
//
// The versions of the protocol without sessions (from 2026-07-28 on) are not
// spoken: nothing in them says whose call, and whose answer to a question, a
// message is.
package mcpserver

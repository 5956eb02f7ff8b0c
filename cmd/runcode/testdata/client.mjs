// A client made with the official TypeScript SDK. It is started with "stdio" or an
// URL, drives `runcode serve`, and prints what it sees as one JSON object.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema, LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const [target, command, ...args] = process.argv.slice(2);

async function connect(answer) {
  const client = new Client({ name: "typescript", version: "1" }, { capabilities: answer ? { elicitation: {} } : {} });
  const logs = [];
  client.setNotificationHandler(LoggingMessageNotificationSchema, (n) => { logs.push(n.params.level + ": " + n.params.data); });
  if (answer) {
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => answer(params));
  }
  const transport = target === "stdio"
    ? new StdioClientTransport({ command, args, stderr: "ignore" })
    : new StreamableHTTPClientTransport(new URL(target), { requestInit: { headers: { Authorization: "Bearer " + process.env.RUNCODE_TOKEN } } });
  await client.connect(transport);
  return { client, logs };
}

// The SDK drops progress that comes together with the answer, so it is waited for
// while a question holds the call up.
const progress = [], asked = "call 1: write";
const approve = async (params) => {
  while (!progress.includes(asked)) await new Promise((r) => setTimeout(r, 5));
  return { action: "accept", content: { approve: true, digest: params.requestedSchema.properties.digest.default } };
};
const run = (client, code, options) => client.callTool({ name: "run_code", arguments: { code, description: "Test" } }, undefined, options);
const write = (file) => `try { return (await tools.write({ file_path: "${file}", content: "x" })).path } catch (e) { return e.code }`;

const seen = {};
const { client, logs } = await connect(approve);
seen.tools = (await client.listTools()).tools.map((t) => t.name);
await client.setLoggingLevel("info");

const called = await run(client, `console.log("hi"); const { content } = await tools.read({ file_path: "a.txt" }); return { content }`);
seen.structured = called.structuredContent;
seen.logs = logs;
seen.failed = (await run(client, `throw new Error("no")`)).isError;

const gone = new AbortController();
const cancelled = run(client, `console.log("holding"); await new Promise(() => setTimeout(() => {}, 600000))`, { signal: gone.signal });
while (!logs.includes("info: holding")) await new Promise((r) => setTimeout(r, 5));
gone.abort("enough");
seen.cancelled = await cancelled.then(() => "answered", (e) => String(e.message ?? e));

seen.approved = (await run(client, write("approved.txt"), { onprogress: (p) => progress.push(p.message) })).content[0].text;
seen.progress = progress[0];

// Two others at once: one declines, one cannot be asked.
const [second, third] = await Promise.all([connect(() => ({ action: "decline" })), connect(null)]);
const both = await Promise.all([run(second.client, write("declined.txt")), run(third.client, write("unasked.txt"))]);
seen.declined = both[0].content[0].text;
seen.unasked = both[1].content[0].text;

await Promise.all([client.close(), second.client.close(), third.client.close()]);
console.log(JSON.stringify(seen));

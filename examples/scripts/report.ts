// Makes a Markdown report of the markers people leave in a text (TODO and the
// like), grouped by file, each with the lines around it. One read a file is
// enough for all of its markers.
// Tools: grep, read and, when input.out names a file, write.
//
//   runcode run examples/scripts/report.ts
//   runcode run --dry-run --input '{"pattern":"^func Fuzz","glob":"*_test.go","out":"fuzz-targets.md"}' examples/scripts/report.ts

interface Options {
  pattern?: string;
  glob?: string;
  around?: number; // lines before and after a marker
  out?: string;
}

const { pattern = "\\b(TODO|FIXME|XXX)\\b", glob, around = 2, out }: Options =
  typeof input === "undefined" ? {} : input;

// A file that exists can be replaced after it was read. It is no part of the report.
let old: string | undefined;
try {
  if (out !== undefined) old = (await tools.read({ file_path: out, limit: 1 })).path;
} catch (error) {
  if (!(error instanceof ToolCallError) || error.code !== "FS_NOT_FOUND") throw error;
}

const { matches, total, truncated } = await tools.grep({ pattern, glob, limit: 500 });
const shown = matches.filter(({ path }) => path !== old);
const report = [`# Lines that match \`${pattern}\`: ${shown.length}${truncated ? ` of ${total}` : ""}`];
for (const [path, found] of Map.groupBy(shown, (match) => match.path)) {
  const first = Math.max(1, found[0].line - around);
  const { content } = await tools.read({ file_path: path, offset: first, limit: found.at(-1)!.line + around + 1 - first });
  const lines = content.replace(/\r?\n$/, "").split(/\r?\n/);
  report.push("", `## ${path}`);
  for (const { line } of found) {
    const start = Math.max(first, line - around);
    const window = lines.slice(start - first, line + around + 1 - first);
    report.push("", `Line ${line}:`, "", ...window.map((text, i) => `    ${start + i === line ? ">" : " "} ${text}`.trimEnd()));
  }
}

const text = report.join("\n") + "\n";
if (out === undefined) return text;
const { path, bytes } = await tools.write({ file_path: out, content: text });
return `wrote ${bytes} bytes to ${path}`;

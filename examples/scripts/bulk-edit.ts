// Replaces a text in every file of a glob. A file that may not or cannot be
// edited does not stop the others: it is listed with the reason. With --dry-run
// the same program reports what it would change, and changes nothing.
// Tools: grep, read, edit. Without --dry-run each edit is asked about, unless a
// rule such as Edit(docs/**) or --approve always answers.
//
//   runcode run --dry-run --root examples/data --input '{"from":"Oslo","to":"Bergen","glob":"*.json"}' examples/scripts/bulk-edit.ts

interface Options {
  from: string;
  to: string;
  glob: string;
}

const { from, to, glob }: Options = input;
if (/[\r\n]/.test(from)) throw new Error("from must lie within one line: grep looks at one line at a time");

// grep takes a regular expression, from is plain text.
const pattern = from.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const { matches, truncated, note } = await tools.grep({ pattern, glob, limit: 10_000 });
if (truncated) console.log("there are more files; run this again for the rest");
if (note) console.log(note); // why a file may be missing

const changed: { path: string; replacements: number }[] = [];
const skipped: { path: string; code?: string; reason: string }[] = [];
for (const path of new Set(matches.map((match) => match.path))) {
  try {
    await tools.read({ file_path: path, limit: 1 }); // nothing is edited unread
    const { replacements } = await tools.edit({ file_path: path, old_string: from, new_string: to, replace_all: true });
    changed.push({ path, replacements });
  } catch (error) {
    if (!(error instanceof ToolCallError)) throw error;
    skipped.push({ path, code: error.code, reason: error.message });
  }
}
return { changed, skipped };

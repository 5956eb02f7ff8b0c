// Finds files that hold the same text, largest waste first.
//
//   runcode run examples/scripts/duplicate-files.ts
//   runcode run --input '{"pattern":"**/*.md"}' examples/scripts/duplicate-files.ts

const { pattern = "**" }: { pattern?: string } = typeof input === "undefined" ? {} : input;

const { paths, total } = await tools.glob({ pattern });
const files = paths.slice(0, 4_000); // a run may make 10,000 calls
const skipped: string[] = [];

// The groups of two files and more for which key says the same.
async function alike(files: string[], key: (path: string) => Promise<string>): Promise<[string, string[]][]> {
  const groups = new Map<string, string[]>();
  for (const path of files) {
    try {
      const k = await key(path);
      groups.set(k, [...(groups.get(k) ?? []), path]);
    } catch (error) {
      if (!(error instanceof ToolCallError)) throw error;
      skipped.push(`${path} (${error.code})`); // a picture, a file one may not read
    }
  }
  return [...groups].filter(([, paths]) => paths.length > 1);
}

// Most files differ in their length or their first lines already.
async function beginning(path: string): Promise<string> {
  const { totalLines, content } = await tools.read({ file_path: path, offset: 1, limit: 20 });
  return `${totalLines} ${content}`;
}

// A large file comes in windows, which put together are the file.
async function whole(path: string): Promise<string> {
  let text = "";
  for (let offset = 1; ; ) {
    const part = await tools.read({ file_path: path, offset });
    text += part.content;
    if (!part.truncated) return text;
    offset = part.endLine + 1;
  }
}

const duplicates: { wasted: number; files: string[] }[] = [];
for (const [, candidates] of await alike(files, beginning)) {
  for (const [text, same] of await alike(candidates, whole)) {
    const bytes = new TextEncoder().encode(text).length;
    if (bytes > 0) duplicates.push({ wasted: bytes * (same.length - 1), files: same });
  }
}
duplicates.sort((a, b) => b.wasted - a.wasted);

console.log(`${files.length} of ${total} files, ${skipped.length} skipped, ${duplicates.length} groups of duplicates`);
if (skipped.length > 0) console.log(`skipped: ${skipped.slice(0, 10).join(", ")}${skipped.length > 10 ? ", ..." : ""}`);
return duplicates;

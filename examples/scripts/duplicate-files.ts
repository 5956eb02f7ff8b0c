// Finds files with the same content, read in full, largest waste first.
//
//   runcode run examples/scripts/duplicate-files.ts
//   runcode run --input '{"pattern":"**/*.md"}' examples/scripts/duplicate-files.ts

const pattern: string = typeof input === "undefined" ? "**/*" : input.pattern;

const { paths, truncated } = await tools.glob({ pattern });
const byContent = new Map<string, string[]>();
const skipped: string[] = [];

for (const path of paths) {
  try {
    let content = "";
    // A large file comes in windows; the program puts it together again.
    for (let offset = 1; ; ) {
      const part = await tools.read({ file_path: path, offset });
      content += part.content;
      if (!part.truncated) break;
      offset = part.endLine + 1;
    }
    if (content !== "") byContent.set(content, [...(byContent.get(content) ?? []), path]);
  } catch (error) {
    // Pictures and other binaries are not text; say so and go on.
    skipped.push(`${path} (${error.code})`);
  }
}

const groups = [...byContent]
  .filter(([, files]) => files.length > 1)
  .map(([content, files]) => ({ wasted: content.length * (files.length - 1), files: files.sort() }))
  .sort((a, b) => b.wasted - a.wasted);

console.log(`${paths.length} files${truncated ? " (the list was cut)" : ""}, ${groups.length} groups of duplicates, ${skipped.length} skipped`);
return groups;

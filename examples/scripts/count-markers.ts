// Counts the lines of a tree that hold a marker: one grep for each marker, one
// small table out. The matches themselves never leave the tool.
//
//   runcode run examples/scripts/count-markers.ts
//   runcode run --input '{"markers":["TODO","FIXME"],"glob":"*.go"}' examples/scripts/count-markers.ts

interface Options {
  markers: string[];
  glob?: string;
}

const { markers, glob }: Options =
  typeof input === "undefined"
    ? { markers: ["func Test", "func Fuzz", "func Benchmark", "func Example"], glob: "*_test.go" }
    : input;

// grep takes a regular expression, a marker is plain text that begins a word.
const regexp = (marker: string) =>
  (/^\w/.test(marker) ? "\\b" : "") + marker.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

const rows: [string, ...unknown[]][] = [["marker", "lines", "files"]];
for (const marker of markers) {
  // total and files count everything, however few matches are returned.
  const { total, files, note } = await tools.grep({ pattern: regexp(marker), glob, limit: 1 });
  rows.push([marker, total, files]);
  if (note) console.log(`${marker}: ${note}`); // why a count is not complete
}

const width = Math.max(...rows.map(([marker]) => marker.length));
return rows
  .map(([marker, ...counts]) => marker.padEnd(width) + counts.map((n) => String(n).padStart(8)).join(""))
  .join("\n");

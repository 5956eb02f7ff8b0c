// Counts markers across a tree: one grep a marker, one table out. Only the
// table comes back, not the matches.
//
//   runcode run examples/scripts/count-markers.ts
//   runcode run --input '{"markers":["TODO","FIXME"],"glob":"*.go"}' examples/scripts/count-markers.ts

interface Options {
  markers: string[];
  glob?: string;
}

const options: Options =
  typeof input === "undefined"
    ? { markers: ["func Test", "func Fuzz", "func Benchmark", "func Example"], glob: "*_test.go" }
    : input;

// grep takes a pattern, a marker is plain text.
const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

const rows: { marker: string; hits: number; files: number }[] = [];
for (const marker of options.markers) {
  const found = await tools.grep({ pattern: "\\b" + literal(marker), glob: options.glob ?? "**" });
  rows.push({ marker, hits: found.total, files: found.files });
}

const width = Math.max(...rows.map((row) => row.marker.length), "marker".length);
const line = (a: string, b: unknown, c: unknown) => a.padEnd(width) + String(b).padStart(8) + String(c).padStart(8);
return [line("marker", "hits", "files"), ...rows.map((r) => line(r.marker, r.hits, r.files))].join("\n");

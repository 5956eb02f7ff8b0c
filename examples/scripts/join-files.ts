// Joins two JSON files, each an array of objects, on a key: a left join. Both
// files are read whole, only the table and what found no partner come back.
// Tools: read.
//
//   runcode run examples/scripts/join-files.ts
//   runcode run --root examples/data --input '{"left":"customers.json","right":"orders.json","leftKey":"id","rightKey":"customer"}' examples/scripts/join-files.ts

type Row = Record<string, unknown>;

const { left, right, leftKey, rightKey }: Record<"left" | "right" | "leftKey" | "rightKey", string> =
  typeof input === "undefined"
    ? { left: "examples/data/orders.json", right: "examples/data/customers.json", leftKey: "customer", rightKey: "id" }
    : input;

// A large file comes in windows, which put together are the file.
async function rows(file_path: string): Promise<Row[]> {
  let text = "";
  for (let offset = 1, more = true; more; ) {
    const part = await tools.read({ file_path, offset });
    text += part.content;
    offset = part.endLine + 1;
    more = part.truncated;
  }
  const data = JSON.parse(text);
  if (!Array.isArray(data)) throw new Error(`${file_path} holds no array of rows`);
  return data;
}

const [ours, theirs] = await Promise.all([rows(left), rows(right)]);

// The index saves a search for each row. Null joins nothing, not even null.
const index = Map.groupBy(theirs, (row) => row[rightKey]);
const partners = (row: Row) => (row[leftKey] == null ? [] : (index.get(row[leftKey]) ?? []));

const unmatched = ours.filter((row) => partners(row).length === 0);
console.log(`${ours.length} rows, ${unmatched.length} of them without a partner in ${right}`);
return {
  // The right row is kept apart, so that equal names do not hide each other.
  joined: ours.flatMap((row) => partners(row).map((match) => ({ ...row, match }))),
  unmatched,
};

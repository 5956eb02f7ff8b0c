// Walks a list that comes in pages, newest first, and stops at the first entry
// that is too old: the pages after it are never asked for. What comes back is a
// sum, not the list.
// Tools: list_orders, declared in examples/data/list-orders.mock.json.
//
//   runcode run --tools none --mock examples/data/list-orders.mock.json examples/scripts/paginate.ts
//   runcode run --tools none --mock examples/data/list-orders.mock.json --input '{"since":"2026-03-01","status":"returned"}' examples/scripts/paginate.ts

interface Options {
  since?: string; // YYYY-MM-DD
  status?: "paid" | "open" | "returned";
}
interface Order {
  id: string;
  date: string;
  status: string;
  cents: number;
}

const { since = "2026-01-01", status = "paid" }: Options = typeof input === "undefined" ? {} : input;

// A generator hides the cursor. Whoever stops reading stops the calls.
async function* orders(): AsyncGenerator<Order> {
  let cursor: string | undefined;
  do {
    const page = await tools.list_orders({ cursor }); // an undefined property is left out
    yield* page.orders;
    cursor = page.next;
  } while (cursor);
}

let count = 0;
let cents = 0;
for await (const order of orders()) {
  if (order.date < since) break;
  if (order.status !== status) continue;
  count++;
  cents += order.cents;
}
return { since, status, orders: count, total: (cents / 100).toFixed(2) };

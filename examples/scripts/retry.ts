// Retries a flaky tool with exponential backoff and jitter: only failures that
// may pass by themselves, and only so often. Asking for a rate changes nothing,
// so it may be repeated; a payment may not.
// Tools: get_rate, declared in examples/data/rates.mock.json.
//
//   runcode run --tools none --mock examples/data/rates.mock.json examples/scripts/retry.ts
//   runcode run --tools none --mock examples/data/rates.mock.json --input '{"currencies":["NOK"],"attempts":2}' examples/scripts/retry.ts

interface Options {
  currencies?: string[];
  attempts?: number; // in all
  baseMs?: number; // before the second one; it doubles each time
}

const { currencies = ["CHF", "NOK", "SEK", "XYZ"], attempts = 4, baseMs = 20 }: Options =
  typeof input === "undefined" ? {} : input;

const passing = new Set(["RATE_LIMITED", "UNAVAILABLE", "TOOL_TIMEOUT"]);
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

async function retry<T>(what: string, call: (attempt: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call(attempt);
    } catch (error) {
      const hopeless = !(error instanceof ToolCallError) || !passing.has(error.code ?? "");
      if (hopeless || attempt >= attempts) throw error;
      // Between half and all of the delay, so that many callers do not return at once.
      const delay = baseMs * 2 ** (attempt - 1) * (1 - Math.random() / 2);
      console.log(`${what}: ${error.code}, attempt ${attempt + 1} in ${Math.round(delay)} ms`);
      await sleep(delay);
    }
  }
}

// While one waits for its timer the others go on.
const results = await Promise.allSettled(
  currencies.map((currency) => retry(currency, (attempt) => tools.get_rate({ currency, attempt }))),
);
return results.map((result, i) => ({
  currency: currencies[i],
  ...(result.status === "fulfilled" ? result.value : { failed: result.reason.code ?? String(result.reason) }),
}));

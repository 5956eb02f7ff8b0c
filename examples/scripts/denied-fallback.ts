// A denial is an ordinary rejection: catch it, look at its code, take the other
// way. The policy is the same as for a direct call, a program cannot avoid it.
//
//   runcode run --mock examples/data/cache.mock.json examples/scripts/denied-fallback.ts
//   runcode run --input 250 --mock examples/data/cache.mock.json examples/scripts/denied-fallback.ts

const needed: number = typeof input === "undefined" ? 300 : input;

async function purge(): Promise<number | undefined> {
  try {
    return (await tools.purge_cache({ all: true })).freed;
  } catch (error) {
    const denied = error instanceof ToolCallError && /^(DENIED|APPROVAL)_/.test(error.code ?? "");
    if (!denied) throw error; // a failure is not a denial
    console.log(`${error.toolName} was not allowed (${error.code}), trimming instead`);
  }
}

// Trimming is allowed: the oldest entries first, until enough is free.
async function trim(): Promise<number> {
  let freed = 0;
  const { entries } = await tools.list_cache();
  for (const { key } of entries.sort((a, b) => b.age - a.age)) {
    if (freed >= needed) break;
    freed += (await tools.trim_cache({ key })).freed;
  }
  return freed;
}

const freed = (await purge()) ?? (await trim());
return { freed, enough: freed >= needed };

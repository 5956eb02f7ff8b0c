// A denial is an ordinary rejection: catch it, look at its code, take the other
// way. The policy is the same as for a direct call, the program cannot avoid it.
//
//   runcode run --mock examples/scripts/denied-fallback.mock.json examples/scripts/denied-fallback.ts

interface Freed {
  freed: number;
}

async function free(needed: number): Promise<Freed & { how: string }> {
  try {
    const { freed } = await tools.purge_cache({ all: true });
    return { freed, how: "purged" };
  } catch (error) {
    if (!(error instanceof ToolCallError) || !error.code.startsWith("APPROVAL_")) throw error;
    console.log(`${error.toolName} was not allowed (${error.code}): trimming instead`);
  }
  // Trimming is allowed: take the oldest entries until enough is free.
  let freed = 0;
  const { entries } = await tools.list_cache({});
  for (const entry of entries.sort((a, b) => a.age - b.age).reverse()) {
    if (freed >= needed) break;
    freed += (await tools.trim_cache({ key: entry.key })).freed;
  }
  return { freed, how: "trimmed" };
}

return await free(300);

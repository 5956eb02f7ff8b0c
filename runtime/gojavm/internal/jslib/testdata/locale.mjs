// Writes locale.json: what each line of locale.txt evaluates to in Node 20. Run
// with:
//
//	TZ=UTC node locale.mjs
//
// The tests read locale.json alone and need no Node.
import { readFileSync, writeFileSync } from 'node:fs';

const cases = readFileSync(new URL('locale.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('//'))
  .map((expression) => ({ expression, want: String((0, eval)(expression)) }));
writeFileSync(new URL('locale.json', import.meta.url), JSON.stringify({ node: process.version, cases }, null, 1) + '\n');

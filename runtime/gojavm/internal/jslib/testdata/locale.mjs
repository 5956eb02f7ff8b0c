// Writes locale.json: what each line of locale.txt evaluates to in Node 24. Run
// with:
//
//	TZ=UTC node locale.mjs
//
// The tests read locale.json alone and need no Node.
import { readFileSync, writeFileSync } from 'node:fs';

const cases = readFileSync(new URL('locale.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('//'))
  .map((expression) => {
    try {
      return { expression, want: String((0, eval)(expression)) };
    } catch (error) {
      return { expression, want: `THROWS ${error.name}: ${error.message}` };
    }
  });
writeFileSync(new URL('locale.json', import.meta.url), `{"node": "${process.version}", "cases": [\n${cases.map((c) => JSON.stringify(c)).join(',\n')}\n]}\n`);

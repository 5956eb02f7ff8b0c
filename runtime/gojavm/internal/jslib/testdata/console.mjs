// Writes console.json: what Node prints for each line of console.txt, whose
// lines are the arguments of console.log. Run with Node 20:
//
//	node console.mjs
//
// The tests read console.json alone and need no Node.
import { readFileSync, writeFileSync } from 'node:fs';
import { formatWithOptions } from 'node:util';

const cases = readFileSync(new URL('console.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('//'))
  .map((args) => ({
    args,
    want: formatWithOptions({ depth: 4 }, ...(0, eval)(`[${args}]`)),
  }));
writeFileSync(new URL('console.json', import.meta.url), JSON.stringify({ node: process.version, cases }, null, 1) + '\n');

// Runs the programs that come as JSON on standard input and prints what each
// returns or throws, a JSON array of texts.
import { readFileSync } from 'node:fs';
import vm from 'node:vm';

process.on('unhandledRejection', () => {});
const quiet = { log() {}, error() {}, warn() {} };
const given = ['setTimeout', 'clearTimeout', 'queueMicrotask', 'structuredClone', 'URL', 'TextEncoder', 'TextDecoder', 'atob', 'btoa', 'AbortController'];
const integer = (key, value) => (typeof value === 'bigint' ? `integer ${value}` : value);
const out = [];
for (const program of JSON.parse(readFileSync(0, 'utf8'))) {
  const context = vm.createContext({ console: quiet, ...Object.fromEntries(given.map((name) => [name, globalThis[name]])) });
  vm.runInContext("Symbol.dispose ??= Symbol('Symbol.dispose'); Symbol.asyncDispose ??= Symbol('Symbol.asyncDispose')", context);
  try {
    const value = await vm.runInContext(program, context);
    out.push(JSON.stringify(value, integer)?.replace(/"integer (-?\d+)"/g, '$1') ?? 'undefined');
  } catch (e) {
    out.push(`throws ${String(e)}`);
  }
}
process.stdout.write(JSON.stringify(out));

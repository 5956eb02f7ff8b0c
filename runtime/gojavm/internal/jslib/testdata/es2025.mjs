// Writes es2025.json: the names of the ECMAScript 2025 library with their kinds,
// and what each line of es2025.txt evaluates to. Run with Node 24 or later:
//
//	TZ=UTC node es2025.mjs
//
// The tests read es2025.json alone and need no Node.
import { readFileSync, writeFileSync } from 'node:fs';

const here = (name) => new URL(name, import.meta.url);
const show = (0, eval)(readFileSync(here('show.js'), 'utf8'));

const cases = [];
for (const line of readFileSync(here('es2025.txt'), 'utf8').split('\n')) {
  if (line === '' || line.startsWith('//')) continue;
  const [name, expression] = line.split(' :: ');
  let want;
  try {
    want = show(await (0, eval)(`(async function () { return (${expression}) }).call(globalThis)`));
  } catch (error) {
    want = `throws ${error?.name}`;
  }
  cases.push({ name, expression, want });
}

// What V8 has beside the standard.
const extra = /^(Error\.(captureStackTrace|prepareStackTrace|stackTraceLimit|isError)|RegExp\.(input|last\w+|leftContext|rightContext|\$.)|Function\.prototype\.(arguments|caller)|Iterator\.concat|Map\.prototype\.getOrInsert.*|.*\.(fromBase64|fromHex|setFromBase64|setFromHex|toBase64|toHex)|Atomics\.(waitAsync|pause)|Math\.sumPrecise|Promise\.allKeyed|Promise\.allSettledKeyed|.*ispose\])$/;
const surface = [];
const add = (name, kind) => { if (!extra.test(name)) surface.push({ name, kind }); };
const kindOf = (v) => (typeof v === 'function' ? `function ${v.length}` : typeof v);
const members = (o, path) => {
  for (const key of Reflect.ownKeys(o)) {
    if (typeof o === 'function' && ['length', 'name', 'prototype'].includes(key) || key === 'constructor' && path !== 'Iterator.prototype') continue;
    const { get, value } = Object.getOwnPropertyDescriptor(o, key);
    add(typeof key === 'symbol' ? `${path}[${key.description}]` : `${path}.${key}`, get ? 'accessor' : kindOf(value));
  }
};
for (const name of [
  'globalThis', 'Infinity', 'NaN', 'undefined', 'eval', 'isFinite', 'isNaN', 'parseFloat', 'parseInt',
  'decodeURI', 'decodeURIComponent', 'encodeURI', 'encodeURIComponent', 'escape', 'unescape',
]) add(name, kindOf(globalThis[name]));
for (const name of [
  'Object', 'Function', 'Boolean', 'Symbol', 'Error', 'AggregateError', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError',
  'TypeError', 'URIError', 'Number', 'BigInt', 'Math', 'Date', 'String', 'RegExp', 'Array', 'Int8Array', 'Uint8Array', 'Uint8ClampedArray',
  'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array', 'BigInt64Array', 'BigUint64Array', 'Float16Array', 'Float32Array', 'Float64Array',
  'Map', 'Set', 'WeakMap', 'WeakSet', 'WeakRef', 'FinalizationRegistry', 'ArrayBuffer', 'SharedArrayBuffer', 'DataView', 'Atomics', 'JSON',
  'Promise', 'Reflect', 'Proxy', 'Iterator',
]) {
  const v = globalThis[name];
  add(name, kindOf(v));
  members(v, name);
  if (v.prototype) members(v.prototype, `${name}.prototype`);
}
const TypedArray = Object.getPrototypeOf(Int8Array);
members(TypedArray, '%TypedArray%');
members(TypedArray.prototype, '%TypedArray%.prototype');
const lines = (list) => `[\n${list.map((entry) => JSON.stringify(entry)).join(',\n')}\n]`;
writeFileSync(here('es2025.json'), `{"node": "${process.version}",\n"surface": ${lines(surface)},\n"cases": ${lines(cases)}}\n`);

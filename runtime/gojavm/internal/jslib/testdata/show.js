// What a value is, in one line. A test's expected values are written with it.
(function show(v) {
  if (Array.isArray(v)) {
    const parts = [];
    for (let i = 0; i < v.length; i++) parts.push(i in v ? show(v[i]) : 'hole');
    return `[${parts.join(', ')}]`;
  }
  switch (typeof v) {
    case 'string': return JSON.stringify(v);
    case 'bigint': return `${v}n`;
    case 'symbol': return String(v);
    case 'function': return `function ${v.name}`;
    case 'number': return Object.is(v, -0) ? '-0' : String(v);
  }
  if (v === null || typeof v !== 'object') return String(v);
  if (v instanceof Error) return v.name;
  return `{${Object.keys(v).map((k) => `${JSON.stringify(k)}: ${show(v[k])}`).join(', ')}}`;
})

'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const calls = data.calls;
  const $ = id => document.getElementById(id);

  // What a reader's eye could misread is written out: controls, bidirectional and
  // zero-width characters.
  const unseen = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;
  const seen = text => text.replace(unseen, c => '\\u{' + c.codePointAt(0).toString(16) + '}');

  // Elements are made of text nodes and nothing else.
  function h(tag, cls, ...children) {
    const e = document.createElement(tag);
    if (cls) e.className = cls;
    for (const c of children) if (c !== null && c !== undefined) e.append(typeof c === 'string' ? seen(c) : c);
    return e;
  }
  function svg(tag, attributes, ...children) {
    const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    e.append(...children);
    return e;
  }
  function button(cls, text, title, act) {
    const b = h('button', cls, text);
    b.type = 'button';
    if (title) b.title = title;
    b.addEventListener('click', act);
    return b;
  }

  // What became of a call, as a class, a glyph and words: colour never stands alone.
  const tones = {done: 'is-done', failed: 'is-failed', denied: 'is-denied', aborted: 'is-aborted', abandoned: 'is-aborted', open: 'is-open'};
  const shapes = {
    'is-done': 'M3.5 8.2l3 3 6-6.5', 'is-failed': 'M4 4l8 8M12 4l-8 8', 'is-denied': 'M8 1.8a6.2 6.2 0 1 0 .01 0M3.9 3.9l8.2 8.2',
    'is-aborted': 'M4 4h8v8H4z', 'is-open': 'M8 3.5V8l3 2M8 1.8a6.2 6.2 0 1 0 .01 0', 'is-none': 'M4 8h8', 'is-ask': 'M6 6a2 2 0 1 1 2.6 2C8 8.300 8 8.600 8 9.300M8 11.600v.2',
  };
  const tone = fate => tones[fate] || 'is-none';
  const words = fate => fate.replaceAll('-', ' ');
  function glyph(cls) {
    return svg('svg', {viewBox: '0 0 16 16', class: 'glyph ' + cls, 'aria-hidden': 'true', fill: 'none', stroke: 'currentColor', 'stroke-width': '1.9', 'stroke-linecap': 'round', 'stroke-linejoin': 'round'},
      svg('path', {d: shapes[cls]}));
  }
  const pill = (cls, text) => h('span', 'pill ' + cls, text);

  // A failure's first line is words, what follows a piece of code.
  function message(text) {
    const [first, ...rest] = (text.length > 600 ? text.slice(0, 600) + '…' : text).split('\n');
    return [first, rest.length ? h('pre', '', rest.join('\n')) : ''];
  }
  function duration(ms) {
    if (ms >= 10000) return (ms / 1000).toFixed(1) + ' s';
    if (ms >= 1000) return (ms / 1000).toFixed(2) + ' s';
    if (ms >= 100) return ms.toFixed(0) + ' ms';
    if (ms >= 1) return ms.toFixed(1) + ' ms';
    return ms === 0 ? '0 ms' : ms.toFixed(3) + ' ms';
  }
  function size(n) {
    return n < 10240 ? n + ' B' : n < 10485760 ? (n / 1024).toFixed(1) + ' KiB' : (n / 1048576).toFixed(1) + ' MiB';
  }
  const plural = (n, one, many) => n + ' ' + (n === 1 ? one : many);

  // The tree.
  const roots = [];
  calls.forEach((c, i) => { c.i = i; c.sub = []; });
  for (const c of calls) (c.parent < 0 ? roots : calls[c.parent].sub).push(c);
  const programOf = c => { for (; c; c = calls[c.parent]) if (c.program !== undefined) return c; return null; };
  const siteOwner = c => c.parent < 0 ? null : programOf(calls[c.parent]);
  const folded = new Set();
  const marked = new Map(); // of each program, its lines' calls
  for (const c of calls) {
    const owner = siteOwner(c);
    if (!owner || !c.line) continue;
    if (!marked.has(owner.i)) marked.set(owner.i, new Map());
    const lines = marked.get(owner.i);
    if (!lines.has(c.line)) lines.set(c.line, []);
    lines.get(c.line).push(c);
  }

  // Time runs only while a call of a model is open, so that what lies between two
  // of them takes no room.
  const spans = [];
  for (const r of [...roots].sort((a, b) => a.start - b.start)) {
    const last = spans[spans.length - 1], end = Math.max(r.end, r.start);
    if (last && r.start <= last.to) last.to = Math.max(last.to, end);
    else spans.push({from: r.start, to: end, at: 0});
  }
  let total = 0;
  for (const s of spans) { s.at = total; total += Math.max(s.to - s.from, 0.001); }
  total = total || 1;
  function active(t) {
    let lo = 0, hi = spans.length - 1;
    while (lo < hi) { const mid = (lo + hi + 1) >> 1; if (spans[mid].from <= t) lo = mid; else hi = mid - 1; }
    const s = spans[lo];
    return s ? s.at + Math.min(Math.max(t - s.from, 0), s.to - s.from) : 0;
  }
  for (const c of calls) { c.x0 = active(c.start); c.x1 = Math.max(active(c.end), c.x0); }
  let view = [0, total];

  // The filter.
  const off = new Set();
  let wanted = '', wantedTool = '';
  const haystack = c => c.hay || (c.hay = (c.tool + '\n' + c.id + '\n' + c.args + '\n' + c.result + '\n' + (c.error ? c.error.code + ' ' + c.error.message : '')).toLowerCase());
  function matches(c) {
    if (off.has(c.fate) || (wantedTool && c.tool !== wantedTool)) return false;
    if (!wanted) return true;
    const line = /^line:(\d+)$/.exec(wanted);
    return line ? c.line === Number(line[1]) : haystack(c).includes(wanted);
  }
  const filtering = () => off.size > 0 || wanted !== '' || wantedTool !== '';

  // Rows: what is to be seen of the tree. Only those in sight are elements.
  const rowHeight = 27;
  const list = $('rows'), sheet = $('sheet');
  let rows = [], chosen = null, drawn = new Map();
  function layout() {
    rows = [];
    const narrow = filtering();
    const walk = (c, depth) => {
      const at = rows.length, fits = matches(c);
      rows.push({c, depth, fits});
      if (!folded.has(c.i) || narrow) for (const s of c.sub) walk(s, depth + 1);
      if (narrow && !fits && rows.length === at + 1) rows.pop();
    };
    for (const r of roots) walk(r, 0);
    rows.forEach((r, i) => { r.c.row = i; });
    const fit = rows.reduce((n, r) => n + r.fits, 0);
    $('shown').textContent = narrow ? fit + ' of ' + plural(calls.length, 'call', 'calls') : plural(calls.length, 'call', 'calls');
    sheet.style.height = rows.length * rowHeight + 'px';
    $('nothing').hidden = rows.length > 0;
    for (const e of drawn.values()) e.remove();
    drawn.clear();
    draw();
    overview();
  }
  let waiting = false;
  function drawSoon() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  }
  function draw() {
    const from = Math.max(Math.floor(list.scrollTop / rowHeight) - 8, 0);
    const to = Math.min(Math.ceil((list.scrollTop + list.clientHeight) / rowHeight) + 8, rows.length);
    for (const [i, e] of drawn) if (i < from || i >= to) { e.remove(); drawn.delete(i); }
    for (let i = from; i < to; i++) {
      if (drawn.has(i)) continue;
      const e = row(rows[i], i);
      drawn.set(i, e);
      sheet.append(e);
    }
  }
  function row({c, depth, fits}, i) {
    const name = h('div', 'name');
    name.style.paddingLeft = 8 + Math.min(depth, 12) * 15 + 'px';
    if (c.sub.length) {
      const shut = folded.has(c.i) && !filtering();
      const b = button('fold', shut ? '▶' : '▼', shut ? 'Unfold' : 'Fold', ev => { ev.stopPropagation(); fold(c, !shut); });
      b.tabIndex = -1;
      name.append(b);
    } else name.append(h('span', 'fold'));
    name.append(glyph(tone(c.fate)), h('span', 'label', c.tool), h('span', 'about', c.about || (c.args === '{}' ? '' : c.args.slice(0, 160))));
    const e = h('div', 'row' + (c === chosen ? ' chosen' : '') + (fits ? '' : ' around'), name,
      h('div', 'where', c.line ? ':' + c.line : ''), bar(c), h('div', 'took', duration(c.took)));
    e.style.top = i * rowHeight + 'px';
    e.id = 'row' + c.i;
    e.setAttribute('role', 'treeitem');
    e.setAttribute('aria-level', depth + 1);
    e.setAttribute('aria-selected', c === chosen);
    if (c.sub.length) e.setAttribute('aria-expanded', !folded.has(c.i));
    e.setAttribute('aria-label', seen(c.tool) + ', ' + words(c.fate) + ', ' + duration(c.took) + (c.line ? ', line ' + c.line : ''));
    e.title = seen(c.tool + '  ' + c.id + '  ' + words(c.fate));
    e.addEventListener('click', () => choose(c));
    return e;
  }
  function bar(c) {
    const width = view[1] - view[0];
    const x0 = (c.x0 - view[0]) / width * 1000, x1 = (c.x1 - view[0]) / width * 1000;
    const left = Math.max(x0, -5), right = Math.min(x1, 1005);
    const s = svg('svg', {class: 'bar', viewBox: '0 0 1000 27', preserveAspectRatio: 'none', 'aria-hidden': 'true'});
    for (const x of [0, 250, 500, 750, 1000]) s.append(svg('line', {class: 'grid', x1: x, x2: x, y1: 0, y2: 27}));
    if (right >= left) {
      s.append(svg('rect', {class: tone(c.fate), x: left, y: c.sub.length ? 9 : 7, width: Math.max(right - left, 2.5), height: c.sub.length ? 9 : 13, rx: 1.5, opacity: c.sub.length ? .45 : 1}));
    }
    return s;
  }
  function fold(c, shut) {
    if (shut) folded.add(c.i); else folded.delete(c.i);
    layout();
  }
  function ruler() {
    const r = $('ruler');
    r.replaceChildren(...[0, .25, .5, .75, 1].map(f => h('span', '', duration(view[0] + (view[1] - view[0]) * f))));
  }

  // The overview shows all calls as a strip and chooses a window of time.
  const canvas = $('overview');
  let dragFrom = null, dragTo = null;
  let stale = false;
  function overview() {
    if (stale) return;
    stale = true;
    requestAnimationFrame(() => { stale = false; drawOverview(); });
  }
  function drawOverview() {
    const w = canvas.clientWidth, height = canvas.clientHeight, k = window.devicePixelRatio || 1;
    if (!w) return;
    canvas.width = w * k; canvas.height = height * k;
    const g = canvas.getContext('2d');
    g.scale(k, k);
    const style = getComputedStyle(document.documentElement);
    const colour = {};
    for (const n of ['done', 'failed', 'denied', 'aborted', 'waiting', 'none', 'select', 'accent', 'line']) colour[n] = style.getPropertyValue('--' + n);
    const key = {'is-done': 'done', 'is-failed': 'failed', 'is-denied': 'denied', 'is-aborted': 'aborted', 'is-open': 'waiting', 'is-none': 'none'};
    const X = t => 6 + t / total * (w - 12);
    if (view[0] > 0 || view[1] < total) { g.fillStyle = colour.select; g.fillRect(X(view[0]), 0, Math.max(X(view[1]) - X(view[0]), 2), height); }
    const usable = height - 10, depthOf = new Map();
    let leaves = 0;
    for (const {c} of rows) if (!c.sub.length) depthOf.set(c, leaves++);
    const step = Math.min(usable / Math.max(leaves, 1), 4);
    for (const bad of [false, true]) {
      for (const {c, fits} of rows) {
        if (c.sub.length || (tone(c.fate) !== 'is-done') !== bad) continue;
        g.globalAlpha = fits ? 1 : .25;
        g.fillStyle = colour[key[tone(c.fate)]];
        g.fillRect(X(c.x0), 5 + depthOf.get(c) * step, Math.max(X(c.x1) - X(c.x0), 1.5), Math.max(step - .5, bad ? 3 : 1.5));
      }
    }
    g.globalAlpha = 1;
    g.fillStyle = colour.line;
    for (const s of spans.slice(1)) g.fillRect(X(s.at), 0, 1, height);
    if (chosen) { g.strokeStyle = colour.accent; g.strokeRect(X(chosen.x0) - 1.5, 2.5, Math.max(X(chosen.x1) - X(chosen.x0), 1) + 3, height - 5); }
    if (dragFrom !== null) { g.fillStyle = colour.accent; g.globalAlpha = .2; g.fillRect(Math.min(X(dragFrom), X(dragTo)), 0, Math.abs(X(dragTo) - X(dragFrom)), height); }
  }
  function timeAt(ev) {
    const box = canvas.getBoundingClientRect();
    return Math.min(Math.max((ev.clientX - box.left - 6) / (box.width - 12), 0), 1) * total;
  }
  function look(from, to) {
    const least = total / 1e6;
    from = Math.max(from, 0); to = Math.min(to, total);
    view = to - from < least ? [0, total] : [from, to];
    $('whole').hidden = view[0] === 0 && view[1] === total;
    ruler();
    layout();
  }
  canvas.addEventListener('pointerdown', ev => { dragFrom = dragTo = timeAt(ev); canvas.setPointerCapture(ev.pointerId); });
  canvas.addEventListener('pointermove', ev => { if (dragFrom !== null) { dragTo = timeAt(ev); overview(); } });
  canvas.addEventListener('pointerup', ev => {
    if (dragFrom === null) return;
    const from = Math.min(dragFrom, dragTo), to = Math.max(dragFrom, dragTo), moved = (to - from) / total;
    const t = timeAt(ev);
    dragFrom = null;
    if (moved > .005) look(from, to);
    else {
      let best = null;
      for (const {c} of rows) if (!c.sub.length && (!best || Math.abs(c.x0 + c.x1 - 2 * t) < Math.abs(best.x0 + best.x1 - 2 * t))) best = c;
      overview();
      if (best) choose(best);
    }
  });
  canvas.addEventListener('dblclick', () => look(0, total));
  list.addEventListener('wheel', ev => {
    if (!ev.ctrlKey) return;
    ev.preventDefault();
    const factor = ev.deltaY > 0 ? 1.25 : .8, mid = (view[0] + view[1]) / 2, half = (view[1] - view[0]) / 2 * factor;
    look(mid - half, mid + half);
  }, {passive: false});

  // The program.
  const sourceOf = {at: -1, lines: []};
  const token = /(\/\/.*|\/\*.*?(?:\*\/|$))|("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|`(?:[^`\\]|\\.)*`?)|\b(as|async|await|break|case|catch|class|const|continue|default|delete|do|else|enum|export|extends|false|finally|for|from|function|if|import|in|instanceof|interface|let|new|null|of|return|static|string|number|boolean|super|switch|this|throw|true|try|type|typeof|undefined|var|void|while|yield)\b|\b(tools|catalog|input)\b|\b(\d[\w.]*)\b/g;
  function paint(source) {
    const text = seen(source), out = h('span', 'text');
    if (text.length > 4000) { out.append(text); return out; }
    let at = 0;
    for (const m of text.matchAll(token)) {
      if (m.index > at) out.append(text.slice(at, m.index));
      out.append(h('span', m[1] ? 'c' : m[2] ? 's' : m[3] ? 'k' : m[4] ? 't' : 'n', m[0]));
      at = m.index + m[0].length;
    }
    out.append(text.slice(at));
    return out;
  }
  const worst = list => {
    for (const fate of ['failed', 'denied', 'open', 'abandoned', 'aborted', 'not-started', 'done']) if (list.some(c => c.fate === fate)) return fate;
    return list[0].fate;
  };
  function showSource(c) {
    const owner = programOf(c) || siteOwner(c);
    $('main').classList.toggle('bare', !owner);
    if (!owner) { sourceOf.at = -1; return; }
    const lines = $('lines');
    if (sourceOf.at !== owner.i) {
      sourceOf.at = owner.i;
      $('program').textContent = seen(owner.about || 'Program');
      const texts = owner.program.split(/\r\n|[\n\r\u2028\u2029]/);
      if (texts.length > 1 && texts[texts.length - 1] === '') texts.pop();
      $('program-size').textContent = plural(texts.length, 'line', 'lines');
      sourceOf.lines = texts.map((text, n) => {
        const here = (marked.get(owner.i) || new Map()).get(n + 1);
        const at = h('span', 'at');
        const e = h('div', '', h('span', 'no', String(n + 1)), at, paint(text));
        if (here) {
          const fate = worst(here);
          at.append(h('span', 'pill ' + tone(fate), here.length === 1 ? '●' : '×' + here.length));
          e.classList.add('called');
          if (fate === 'failed') e.classList.add('wrong');
          if (fate === 'denied') e.classList.add('refused');
          e.title = plural(here.length, 'call', 'calls') + ' from this line' + (fate === 'done' ? '' : ', one ' + words(fate)) + '; click for the next';
          e.addEventListener('click', () => choose(here[(here.indexOf(chosen) + 1) % here.length]));
        }
        if (owner.failedAt === n + 1) { e.classList.add('wrong'); e.title = 'The program failed here'; at.prepend(here ? '' : h('span', 'pill is-failed', '✕')); }
        return e;
      });
      lines.replaceChildren(...sourceOf.lines);
      lines.scrollTop = 0;
    }
    for (const e of sourceOf.lines) e.classList.remove('current');
    const e = owner === siteOwner(c) ? sourceOf.lines[c.line - 1] : null;
    if (e) {
      e.classList.add('current');
      const top = e.offsetTop - lines.offsetTop;
      if (top < lines.scrollTop + 20 || top > lines.scrollTop + lines.clientHeight - 40) lines.scrollTop = top - lines.clientHeight / 2;
    }
  }

  // JSON is laid out as text: reading it would round its numbers.
  function pretty(text) {
    const first = text.trimStart()[0];
    if ((first !== '{' && first !== '[') || text.length > 200000) return null;
    try { JSON.parse(text); } catch { return null; }
    const out = document.createDocumentFragment();
    let depth = 0, plain = '', fresh = false;
    const flush = () => { if (plain) { out.append(plain); plain = ''; } };
    const feed = () => { plain += '\n' + '  '.repeat(Math.min(depth, 40)); };
    for (const m of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[{}\[\],]|[^\s"{}\[\],:]+/g)) {
      const s = m[0], close = s === '}' || s === ']';
      if (close) { depth--; if (!fresh) feed(); plain += s; fresh = false; continue; }
      if (fresh) { feed(); fresh = false; }
      if (s === '{' || s === '[') { plain += s; depth++; fresh = true; } else if (s === ',') { plain += ','; feed(); } else {
        flush();
        if (m[1]) { out.append(h('span', 'y', s.slice(0, s.length - m[1].length))); plain = ': '; } else out.append(h('span', s[0] === '"' ? 's' : /^[tfn]/.test(s) ? 'k' : 'n', s));
      }
    }
    flush();
    return out;
  }
  function box(title, bytes, text, cuts, wide) {
    const pre = h('pre');
    const shaped = pretty(text);
    if (shaped) pre.append(shaped); else pre.textContent = seen(text);
    if (text === '') pre.append(h('span', 'quiet', 'nothing'));
    pre.tabIndex = 0;
    const copy = button('button', 'Copy', 'Copy the text as it is in the log', () => {
      navigator.clipboard.writeText(text).then(() => { copy.textContent = 'Copied'; }, () => {
        getSelection().selectAllChildren(pre);
        copy.textContent = 'Selected';
      });
    });
    const e = h('section', 'box' + (wide ? ' wide' : ''), h('div', 'head', title, h('span', 'quiet grow', bytes === null ? '' : size(bytes)), copy), pre);
    for (const c of cuts) {
      e.append(h('div', 'cut', 'Cut in the log' + (c.path ? ' at ' + c.path : '') + ': ' + c.bytes + ' bytes, sha256 ', h('span', 'mono', c.sha256), c.locator ? ', whole at ' : ', the rest was not kept', h('span', 'mono', c.locator)));
    }
    return e;
  }

  // The path of a call through the stages.
  const stageNames = ['pre-execute', 'approval', 'guards', 'execution', 'post-execute', 'finalize', 'result'];
  const columnOf = {admit: 0, 'pre-execute': 0, approval: 1, guard: 2, execution: 3, body: 3, 'post-execute': 4, finalize: 5};
  const verdictTone = v => ({allow: 'is-done', abstain: 'is-done', success: 'is-done', accept: 'is-done', keep: 'is-done', 'allowed-once': 'is-done', granted: 'is-done', ask: 'is-ask', content: 'is-ask', value: 'is-ask', replace: 'is-ask', deny: 'is-denied', refuse: 'is-denied', rejected: 'is-denied', cancelled: 'is-denied', unavailable: 'is-denied', block: 'is-denied'}[v] || 'is-failed');
  const known = stageNames.map(() => []); // who decides in each stage, of all calls
  for (const c of calls) {
    for (const s of c.stages || []) {
      const k = known[columnOf[s.stage] ?? 0];
      if (s.by && s.stage !== 'approval' && !k.includes(s.by)) k.push(s.by);
    }
  }
  function sentence(c, s, before) {
    const by = s.by ? '“' + s.by + '”' : '';
    const reason = s.reason ? ': ' + s.reason : '';
    switch (s.stage) {
      case 'admit': return ['The call was refused before policy saw it', reason];
      case 'pre-execute': {
        const own = c.stages.filter(x => x.stage === 'pre-execute').map(x => x.by), silent = known[0].filter(k => !own.includes(k));
        const first = !before.some(b => b.stage === 'pre-execute');
        return ['Listener ' + by + ' answered ' + s.decision, reason + (first && silent.length ? '. Not asked about this call: ' + silent.join(', ') + '.' : '')];
      }
      case 'approval': {
        const q = (c.questions || []).find(q => q.outcome === s.decision);
        return ['The approver was asked' + (by ? ' by ' + by : '') + (q && q.reason ? ' (' + q.reason + ')' : '') + ' and answered ' + words(s.decision) + ' after ' + duration(s.ms), reason];
      }
      case 'guard': {
        if (s.decision !== 'deny') return ['Guard ' + by + ' had no objection', ''];
        const allowed = before.some(b => b.stage === 'pre-execute') && !before.some(b => b.decision === 'deny');
        return ['Guard ' + by + ' denied the call' + reason, allowed ? '. Policy had let it through; a guard has the last word, and nobody can allow what it denies.' : ''];
      }
      case 'body': return ['The tool’s body ran: ' + s.decision, reason];
      case 'execution': return ['Wrapper ' + by + ' returned ' + s.decision, reason];
      case 'post-execute': return ['Listener ' + by + ' saw the result and answered ' + s.decision, reason];
      case 'finalize': return ['The tool’s finalizer answered ' + s.decision, reason];
    }
    return [s.stage + ' ' + by + ' ' + s.decision, reason];
  }
  let player = null;
  function path(c) {
    const box = h('section', 'path');
    const steps = (c.stages || []).map(s => ({...s, column: columnOf[s.stage] ?? 0, tone: verdictTone(s.decision)}));
    if (!steps.length) {
      box.append(h('div', 'controls', h('b', '', 'Path through the stages')),
        h('div', 'howto', data.staged ? 'The log has no records of stages for this call.' : 'The log does not say who decided about this call. Record it with ', data.staged ? null : h('code', '', 'runcode run --events FILE --stages')));
      return box;
    }
    steps.push({stage: 'result', by: '', decision: c.fate, reason: c.error ? (c.error.code || '') : '', ms: c.took, column: 6, tone: tone(c.fate), last: true});
    const reached = new Set(steps.map(s => s.column));
    const columns = [], items = [], arrows = [];
    const strip = h('div', 'stages');
    stageNames.forEach((name, n) => {
      const ol = h('ol');
      const own = steps.filter(s => s.column === n);
      for (const s of own) {
        const i = steps.indexOf(s);
        const label = s.last ? c.tool : s.stage === 'body' ? 'body of ' + c.tool : s.stage === 'admit' ? 'admission' : s.stage === 'approval' ? 'asked by ' + (s.by || '?') : s.by || 'the tool';
        const li = h('li', '', label, h('br'), pill(s.tone, words(s.decision)));
        li.dataset.i = i;
        li.title = seen(s.reason || '');
        li.addEventListener('click', () => { stop(); at = i + 1; show(); });
        items[i] = li;
        ol.append(li);
      }
      for (const by of known[n]) if (!own.some(s => s.by === by)) ol.append(h('li', 'ghost', by, h('br'), 'not asked'));
      if (!ol.childElementCount) ol.append(h('li', 'ghost', n === 1 ? 'nobody was asked' : 'nothing'));
      const col = h('div', 'stage', h('h3', '', name), ol);
      columns.push(col);
      if (n) {
        const a = h('div', 'arrow', svg('svg', {viewBox: '0 0 20 14', fill: 'none', stroke: 'currentColor', 'stroke-width': '1.8', 'stroke-linecap': 'round', 'stroke-linejoin': 'round', 'aria-hidden': 'true'}, svg('path', {d: 'M2 7h15M12.500 2.500L17 7l-4.500 4.500'})));
        arrows.push(a);
        strip.append(a);
      }
      strip.append(col);
    });
    const count = h('span', 'count'), saying = h('div', 'saying');
    saying.setAttribute('aria-live', 'polite');
    let at = steps.length, timer = 0;
    const rank = ['is-done', 'is-ask', 'is-denied', 'is-failed'];
    function show() {
      columns.forEach((col, n) => {
        const own = steps.slice(0, at).filter(s => s.column === n);
        const t = n === 0 && own.length ? own[own.length - 1].tone : own.reduce((w, s) => rank.indexOf(s.tone) > rank.indexOf(w) ? s.tone : w, own.length ? own[0].tone : '');
        col.className = 'stage ' + t + (reached.has(n) ? '' : ' unreached') + (at > 0 && steps[at - 1].column === n && at < steps.length ? ' lit' : '');
      });
      items.forEach((li, i) => { li.className = i >= at ? 'ahead' : i === at - 1 && at < steps.length ? 'now' : ''; });
      const last = at ? steps[at - 1].column : -1;
      const stopped = steps.slice(0, at).find(s => s.column < 3 && s.tone === 'is-denied' && (s.column > 0 || s === steps.filter(x => x.column === 0).pop()));
      arrows.forEach((a, n) => { a.className = 'arrow' + (n < last ? (stopped && n >= stopped.column ? ' stopped' : ' passed') : ''); });
      count.textContent = at + ' of ' + steps.length;
      const s = steps[at - 1];
      saying.replaceChildren();
      if (!s) saying.append(h('span', 'quiet', 'The call has been announced; nobody has been asked yet.'));
      else if (s.last) {
        const e = c.error;
        saying.append(h('span', '', h('b', '', 'The call ' + (c.fate === 'failed' ? '' : 'is ') + words(c.fate) + (e && e.code ? ' (' + e.code + ')' : '') + '. '),
          e && e.by ? 'Decided by the ' + (e.origin || 'listener') + ' “' + e.by + '”. ' : '', e ? e.message.split('\n')[0] : ''));
      } else {
        const [what, why] = sentence(c, s, steps.slice(0, at - 1));
        saying.append(h('span', '', h('b', '', what), why, s.stage === 'approval' ? '' : h('span', 'quiet', '  ' + duration(s.ms))));
      }
      play.textContent = timer ? '❚❚ Pause' : '▶ Play';
    }
    function stop() { clearInterval(timer); timer = 0; }
    const near = () => box.scrollIntoView({block: 'nearest'});
    function step() { stop(); near(); at = at >= steps.length ? 1 : at + 1; show(); }
    function reset() { stop(); at = 0; show(); }
    function toggle() {
      if (timer) { stop(); show(); return; }
      if (at >= steps.length) at = 0;
      near();
      timer = setInterval(() => { at++; if (at >= steps.length) stop(); show(); }, 750);
      show();
    }
    const play = button('button main', '', 'Play (p)', toggle);
    box.append(h('div', 'controls', h('b', '', 'Path through the stages'), play, button('button', 'Step', 'One step (s)', step), button('button', 'Reset', 'Back to the beginning (r)', reset), h('span', 'grow'), count), strip, saying);
    player = {toggle, step, reset, stop};
    show();
    return box;
  }

  // Durations are in nanoseconds.
  function limits(text) {
    try {
      return Object.entries(JSON.parse(text)).map(([k, v]) => k + ' ' + (k === 'wall' || k === 'compute' ? duration(v / 1e6) : v)).join(', ');
    } catch { return text; }
  }
  // What is left of a value that was cut in the log stands in a place of its own.
  function head(text) {
    if (!text.startsWith('{"cut":{"head":')) return text;
    try { return JSON.parse(text).cut.head + '…'; } catch { return text; }
  }

  function showDetail(c) {
    if (player) player.stop();
    player = null;
    const d = $('detail');
    $('what').replaceChildren(h('span', '', c.tool));
    $('fate').replaceChildren(pill(tone(c.fate), words(c.fate)));
    $('id').textContent = seen(c.id);
    const fact = (name, value) => h('span', '', name + ' ', h('b', '', value));
    const facts = h('div', 'facts', fact('took', duration(c.took)), fact('began at', duration(c.start)));
    if (c.n) facts.prepend(fact('call', String(c.n)));
    if (c.line) facts.append(fact('line', String(c.line)));
    facts.append(fact('arguments', size(c.argBytes)), fact('result', size(c.resultBytes)));
    if (c.sub.length) facts.append(fact('calls', String(c.sub.length)));
    if (c.dropped) facts.append(fact('contexts dropped', String(c.dropped)));
    const out = [facts];
    if (c.error) {
      const who = [c.error.code || c.error.name, c.error.by ? 'by ' + (c.error.origin || '') + ' “' + c.error.by + '”' : ''].filter(Boolean).join(' ');
      out.push(h('div', 'callout ' + tone(c.fate), h('span', '', h('b', '', who), who ? '  ' : '', ...message(c.error.message))));
    }
    out.push(path(c));
    for (const q of c.questions || []) {
      out.push(h('div', 'callout is-ask', h('span', '', h('b', '', 'Approval ' + words(q.outcome || 'not answered')), q.outcome ? ' after ' + duration(q.ms) : '', q.by ? ', asked by “' + q.by + '”' : '', q.reason ? ': ' + q.reason : '')));
    }
    const boxes = h('div', 'boxes');
    const cuts = c.cuts || [];
    if (c.program === undefined) boxes.append(box('Arguments', c.argBytes, c.args, cuts.filter(x => x.ofCall), false));
    else for (const x of cuts.filter(x => x.ofCall)) boxes.append(box('Program', null, '', [x], true));
    const ofValue = x => !x.ofCall && /^\/value(\/|$)/.test(x.path);
    boxes.append(box('Result', c.value ? null : c.resultBytes, c.result, cuts.filter(x => !x.ofCall && !ofValue(x)), c.program !== undefined));
    if (c.value) boxes.append(box(c.parent < 0 ? 'Value' : 'Value the program got', c.resultBytes, head(c.value), cuts.filter(ofValue), true));
    if (c.world) {
      const w = c.world, lines = ['clock   ' + new Date(w.start).toISOString() + ', then the times of the results' + (w.zone ? '; zone ' + w.zone : ''), 'seed    ' + w.seed];
      if (w.limits) lines.push('limits  ' + limits(w.limits));
      if (w.tools) lines.push('tools   ' + w.tools.join(', '));
      if (w.input) lines.push('input   ' + head(w.input));
      boxes.append(box('What the program took from the world', null, lines.join('\n'), w.cuts || [], true));
    }
    if (c.console && c.console.length) boxes.append(box('Console', null, c.console.map(l => l.level + '  ' + l.text).join('\n'), [], true));
    if (c.lookups && c.lookups.length) boxes.append(box('Looked up in the catalog', null, c.lookups.map(l => 'catalog.' + l.member + '(' + l.args + ')' + (l.line ? '  line ' + l.line : '') + '\n' + (l.error || l.result)).join('\n\n'), [], true));
    const contexts = data.contexts.filter(x => x.callId === c.id);
    if (contexts.length) boxes.append(box('Contexts for the model', null, contexts.map(x => x.from + ': ' + x.text).join('\n\n'), [], true));
    out.push(boxes);
    d.replaceChildren(...out);
    d.scrollTop = 0;
  }

  function choose(c) {
    const before = chosen;
    chosen = c;
    for (const x of [before, c]) {
      const e = x && drawn.get(x.row);
      if (e && e.id === 'row' + x.i) { e.classList.toggle('chosen', x === c); e.setAttribute('aria-selected', x === c); }
    }
    for (let p = calls[c.parent]; p; p = calls[p.parent]) if (folded.has(p.i)) { folded.delete(p.i); layout(); }
    const i = rows[c.row] && rows[c.row].c === c ? c.row : -1;
    if (i >= 0) {
      const top = i * rowHeight;
      if (top < list.scrollTop) list.scrollTop = top;
      if (top + rowHeight > list.scrollTop + list.clientHeight) list.scrollTop = top + rowHeight - list.clientHeight;
      draw();
      list.setAttribute('aria-activedescendant', 'row' + c.i);
    }
    showSource(c);
    showDetail(c);
    overview();
  }
  function move(by) {
    if (!rows.length) return;
    const at = chosen && rows[chosen.row] && rows[chosen.row].c === chosen ? chosen.row : -1;
    choose(rows[Math.min(Math.max(at + by, 0), rows.length - 1)].c);
  }
  function nextBad() {
    const start = chosen ? chosen.row + 1 : 0;
    for (let n = 0; n < rows.length; n++) {
      const r = rows[(start + n) % rows.length];
      if (r.c.fate !== 'done') { choose(r.c); return; }
    }
  }

  // Head, filters and keys.
  $('title').textContent = seen(data.title || 'Trace');
  const runs = calls.filter(c => c.program !== undefined).length;
  $('sub').textContent = (runs ? plural(runs, 'program', 'programs') + ' · ' : '') + (data.started ? new Date(data.started).toISOString().slice(0, 19).replace('T', ' ') + ' UTC' : '');
  const wall = Math.max(0, ...calls.map(c => c.end)) - Math.min(0, ...calls.map(c => c.start));
  const bad = calls.filter(c => c.fate !== 'done').length;
  for (const [value, name] of [[String(calls.length), calls.length === 1 ? 'call' : 'calls'], [String(bad), 'not done'], [duration(wall), 'in all']]) $('figures').append(h('div', 'figure', h('b', '', value), h('span', '', name)));
  const tally = new Map();
  for (const c of calls) tally.set(c.fate, (tally.get(c.fate) || 0) + 1);
  for (const [fate, n] of [...tally].sort((a, b) => b[1] - a[1])) {
    const b = button('chip', glyph(tone(fate)), 'Show or hide these', () => {
      if (off.has(fate)) off.delete(fate); else off.add(fate);
      b.setAttribute('aria-pressed', !off.has(fate));
      layout();
    });
    b.append(seen(words(fate)), h('b', '', String(n)));
    b.setAttribute('aria-pressed', 'true');
    $('chips').append(b);
  }
  const byTool = new Map();
  for (const c of calls) byTool.set(c.tool, (byTool.get(c.tool) || 0) + 1);
  const all = h('option', '', 'all tools');
  all.value = '';
  $('tool').append(all, ...[...byTool].sort((a, b) => b[1] - a[1]).map(([t, n]) => { const o = h('option', '', t + ' (' + n + ')'); o.value = t; return o; }));
  $('tool').addEventListener('change', () => { wantedTool = $('tool').value; list.scrollTop = 0; layout(); });
  let typing = 0;
  $('search').addEventListener('input', () => { clearTimeout(typing); typing = setTimeout(() => { wanted = $('search').value.trim().toLowerCase(); list.scrollTop = 0; layout(); }, calls.length > 500 ? 120 : 0); });
  $('whole').addEventListener('click', () => look(0, total));
  if (data.problems.length) {
    $('problems').hidden = false;
    $('problem-count').textContent = plural(data.problems.length, 'problem', 'problems') + ' found in the log';
    $('problem-list').append(...data.problems.map(p => h('li', '', (p.line ? 'line ' + p.line + ': ' : '') + p.text)));
  }
  const system = matchMedia('(prefers-color-scheme: dark)');
  let theme = '';
  function dress() {
    document.documentElement.dataset.theme = theme || (system.matches ? 'dark' : 'light');
    overview();
  }
  system.addEventListener('change', dress);
  $('theme').addEventListener('click', () => { theme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'; dress(); });
  $('help').addEventListener('click', () => $('keys').showModal());
  $('close').addEventListener('click', () => $('keys').close());
  list.addEventListener('scroll', drawSoon, {passive: true});
  new ResizeObserver(() => { draw(); overview(); }).observe(list);

  document.addEventListener('keydown', ev => {
    if (ev.ctrlKey || ev.metaKey || ev.altKey || $('keys').open) return;
    if (/^(INPUT|SELECT)$/.test(ev.target.tagName)) {
      if (ev.key === 'Escape') { $('search').value = ''; wanted = ''; layout(); list.focus(); }
      if (ev.key === 'Enter') list.focus();
      return;
    }
    const page = Math.max(Math.floor(list.clientHeight / rowHeight) - 1, 1);
    const acts = {
      ArrowDown: () => move(1), j: () => move(1), ArrowUp: () => move(-1), k: () => move(-1), PageDown: () => move(page), PageUp: () => move(-page),
      Home: () => move(-rows.length), End: () => move(rows.length), n: nextBad,
      ArrowLeft: () => { if (!chosen) return; if (chosen.sub.length && !folded.has(chosen.i)) fold(chosen, true); else if (chosen.parent >= 0) choose(calls[chosen.parent]); },
      ArrowRight: () => { if (!chosen || !chosen.sub.length) return; if (folded.has(chosen.i)) fold(chosen, false); else move(1); },
      '/': () => $('search').focus(), p: () => player && player.toggle && player.toggle(), s: () => player && player.step(), r: () => player && player.reset(),
      t: () => $('theme').click(), '?': () => $('keys').showModal(), 0: () => look(0, total),
    };
    const act = acts[ev.key];
    if (act && !(ev.target.tagName === 'PRE' && /Arrow|Page|Home|End/.test(ev.key))) { ev.preventDefault(); act(); }
  });

  dress();
  ruler();
  layout();
  const first = calls.find(c => c.fate === 'denied') || calls.find(c => c.fate !== 'done' && c.parent >= 0) || calls.find(c => c.fate !== 'done') || calls.find(c => c.parent >= 0) || calls[0];
  if (first) choose(first); else $('main').classList.add('bare');
  document.documentElement.dataset.ready = 'yes';
})();

// Library methods that are newer than the engine. The function runs once in a
// fresh engine, before any program, and captures what it needs.
(function (native) {
  'use strict';
  const { defineProperty, getPrototypeOf, create } = Object;
  const { apply } = Reflect;
  const { iterator } = Symbol;
  const then = Promise.prototype.then;
  const resolved = Promise.resolve();
  const MapGet = Map.prototype.get, MapSet = Map.prototype.set, MapHas = Map.prototype.has;

  // hide defines members that are not enumerable; missing those of them that the
  // engine lacks.
  const { hide, missing } = native;
  const callable = (f, what) => {
    if (typeof f !== 'function') throw new TypeError(`${what} is not a function`);
    return f;
  };
  const object = (v, what) => {
    if (v === null || typeof v !== 'object' && typeof v !== 'function') throw new TypeError(`${what} is not an object`);
    return v;
  };

  native.symbols(Symbol, { asyncIterator: Symbol('Symbol.asyncIterator'), dispose: Symbol('Symbol.dispose'), asyncDispose: Symbol('Symbol.asyncDispose') });
  const { asyncIterator, dispose } = Symbol;

  const grouped = (items, callback, key, add) => {
    if (items === null || items === undefined) throw new TypeError(`${items} is not iterable`);
    callable(callback, 'groupBy callback');
    let index = 0;
    for (const item of items) add(key(callback(item, index++)), item);
  };
  missing(Object, {
    groupBy(items, callback) {
      const groups = create(null);
      grouped(items, callback, (k) => (typeof k === 'symbol' ? k : `${k}`), (k, item) => {
        if (k in groups) groups[k][groups[k].length] = item;
        else groups[k] = [item];
      });
      return groups;
    },
  });
  missing(Map, {
    groupBy(items, callback) {
      const groups = new Map();
      grouped(items, callback, (k) => (k === 0 ? 0 : k), (k, item) => {
        if (apply(MapHas, groups, [k])) {
          const group = apply(MapGet, groups, [k]);
          group[group.length] = item;
        } else apply(MapSet, groups, [k, [item]]);
      });
      return groups;
    },
  });
  missing(Map.prototype, {
    getOrInsert(key, value) {
      if (!this.has(key)) this.set(key, value);
      return this.get(key);
    },
    getOrInsertComputed(key, callback) {
      callable(callback, 'getOrInsertComputed callback');
      if (!this.has(key)) this.set(key, callback(key));
      return this.get(key);
    },
  });
  missing(Array, {
    async fromAsync(source, mapper, thisArg) {
      if (mapper !== undefined) callable(mapper, 'Array.fromAsync mapper');
      const out = typeof this === 'function' && this !== Array ? new this() : [];
      let index = 0;
      const put = async (value) => {
        const v = mapper === undefined ? value : await apply(mapper, thisArg, [value, index]);
        defineProperty(out, index++, { __proto__: null, value: v, writable: true, configurable: true, enumerable: true });
      };
      const open = source[asyncIterator] ?? source[iterator];
      if (open === undefined || open === null) {
        const { length } = Object(source);
        for (let i = 0; i < length; i++) await put(await source[i]);
        out.length = index;
        return out;
      }
      const inner = object(apply(open, source, []), 'iterator');
      let done = false;
      try {
        for (;;) {
          const step = object(await inner.next(), 'iterator result');
          if (step.done) {
            done = true;
            return out;
          }
          await put(await step.value);
        }
      } catch (error) {
        if (!done && typeof inner.return === 'function') {
          try { await inner.return(); } catch {}
        }
        throw error;
      }
    },
  });
  missing(Promise, {
    withResolvers() {
      let resolve, reject;
      const promise = new this((a, b) => { resolve = a; reject = b; });
      return { promise, resolve, reject };
    },
    try(callback, ...args) {
      return new this((resolve) => resolve(callback(...args)));
    },
  });
  missing(String.prototype, {
    isWellFormed() { return native.wellFormed(`${this}`); },
    toWellFormed() { return native.toWellFormed(`${this}`); },
  });
  missing(RegExp, { escape: native.regExpEscape });
  missing(Error, {
    captureStackTrace(target) {
      object(target, 'Error.captureStackTrace target');
      const { stack } = new Error();
      const at = stack.indexOf('\n');
      let head = 'Error';
      try {
        head = target.message ? `${target.name ?? 'Error'}: ${target.message}` : `${target.name ?? 'Error'}`;
      } catch {}
      defineProperty(target, 'stack', { __proto__: null, value: head + (at < 0 ? '' : stack.slice(at)), writable: true, configurable: true, enumerable: false });
    },
  });

  const IteratorPrototype = getPrototypeOf(getPrototypeOf([][iterator]()));
  const opened = (it, name) => {
    object(it, `Iterator.prototype.${name} receiver`);
    return { it, next: it.next };
  };
  const step = (o) => object(apply(o.next, o.it, []), 'iterator result');
  const close = (o) => {
    if (typeof o.it.return === 'function') o.it.return();
  };
  const count = (n, name) => {
    n = Number(n);
    if (n !== n) throw new RangeError(`Iterator.prototype.${name}: the limit is not a number`);
    n = Math.trunc(n);
    if (n < 0) throw new RangeError(`Iterator.prototype.${name}: the limit is negative`);
    return n;
  };
  // walk yields what visit passes on, and closes the source when it is left.
  function* walk(o, visit) {
    let live = true;
    try {
      for (let index = 0; ; index++) {
        const s = step(o);
        if (s.done) { live = false; return; }
        const { value } = s;
        yield* visit(value, index);
      }
    } finally {
      if (live) close(o);
    }
  }
  const visitAll = (it, name, callback, visit) => {
    const o = opened(it, name);
    callable(callback, `Iterator.prototype.${name} callback`);
    let index = 0;
    for (;;) {
      const s = step(o);
      if (s.done) return undefined;
      let stop;
      try {
        stop = visit(s.value, index++);
      } catch (error) {
        try { close(o); } catch {}
        throw error;
      }
      if (stop !== undefined) {
        close(o);
        return stop.value;
      }
    }
  };
  missing(IteratorPrototype, {
    map(callback) {
      const o = opened(this, 'map');
      callable(callback, 'Iterator.prototype.map callback');
      return walk(o, function* (value, index) { yield callback(value, index); });
    },
    filter(callback) {
      const o = opened(this, 'filter');
      callable(callback, 'Iterator.prototype.filter callback');
      return walk(o, function* (value, index) { if (callback(value, index)) yield value; });
    },
    take(limit) {
      const o = opened(this, 'take');
      let left = count(limit, 'take');
      return (function* () {
        let live = true;
        try {
          while (left-- > 0) {
            const s = step(o);
            if (s.done) { live = false; return; }
            yield s.value;
          }
        } finally {
          if (live) close(o);
        }
      })();
    },
    drop(limit) {
      const o = opened(this, 'drop');
      const skip = count(limit, 'drop');
      return walk(o, function* (value, index) { if (index >= skip) yield value; });
    },
    flatMap(callback) {
      const o = opened(this, 'flatMap');
      callable(callback, 'Iterator.prototype.flatMap callback');
      return walk(o, function* (value, index) { yield* callback(value, index); });
    },
    reduce(callback, ...initial) {
      callable(callback, 'Iterator.prototype.reduce callback');
      let [total] = initial, empty = initial.length === 0;
      visitAll(this, 'reduce', callback, (value, index) => {
        if (empty) { total = value; empty = false; } else total = callback(total, value, index);
      });
      if (empty) throw new TypeError('Iterator.prototype.reduce: an empty iterator needs an initial value');
      return total;
    },
    toArray() {
      const out = [];
      visitAll(this, 'toArray', () => {}, (value) => { out[out.length] = value; });
      return out;
    },
    forEach(callback) { visitAll(this, 'forEach', callback, (value, index) => { callback(value, index); }); },
    some(callback) { return visitAll(this, 'some', callback, (value, index) => (callback(value, index) ? { value: true } : undefined)) ?? false; },
    every(callback) { return visitAll(this, 'every', callback, (value, index) => (callback(value, index) ? undefined : { value: false })) ?? true; },
    find(callback) { return visitAll(this, 'find', callback, (value, index) => (callback(value, index) ? { value } : undefined)); },
  });
  if (dispose !== undefined && !(dispose in IteratorPrototype)) {
    defineProperty(IteratorPrototype, dispose, { __proto__: null, value: { [dispose]() { this.return?.(); } }[dispose], writable: true, configurable: true, enumerable: false });
  }
  if (typeof globalThis.Iterator === 'undefined') {
    // The constructor gets the engine's own prototype object, which generators and
    // built-in iterators inherit from.
    const Shared = function Iterator() {
      if (new.target === undefined || new.target === Shared) throw new TypeError('Iterator is an abstract class');
    };
    defineProperty(Shared, 'prototype', { __proto__: null, value: IteratorPrototype, writable: false, configurable: false, enumerable: false });
    hide(Shared, {
      from(source) {
        const open = typeof source === 'string' ? source[iterator] : object(source, 'Iterator.from argument')[iterator];
        const it = open === undefined || open === null ? source : object(apply(open, source, []), 'iterator');
        if (it instanceof Shared) return it;
        const o = opened(it, 'from');
        const wrapper = create(IteratorPrototype);
        hide(wrapper, {
          next() { return apply(o.next, o.it, []); },
          return() { return typeof it.return === 'function' ? it.return() : { value: undefined, done: true }; },
        });
        return wrapper;
      },
    });
    hide(IteratorPrototype, { constructor: Shared });
    hide(globalThis, { Iterator: Shared });
  }

  const thenApply = (f) => { apply(then, resolved, [f]); };
  hide(globalThis, {
    queueMicrotask(callback) {
      callable(callback, 'queueMicrotask callback');
      thenApply(() => { callback(); });
    },
  });
})

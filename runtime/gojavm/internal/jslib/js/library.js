// Library methods that are newer than the engine. The function runs once in a
// fresh engine, before any program, and captures what it needs. It defines what
// the program can get hold of: has and hasGlobal say.
(function (native) {
  'use strict';
  const { defineProperty, getPrototypeOf } = Object;
  const { iterator } = Symbol;
  // define gives an object the members of another, not enumerable.
  const { apply, define, has, hasGlobal, asyncIterator, dispose } = native;

  const callable = (f, what) => {
    if (typeof f !== 'function') throw new TypeError(`${what} is not a function`);
    return f;
  };
  const object = (v, what) => {
    if (v === null || typeof v !== 'object' && typeof v !== 'function') throw new TypeError(`${what} is not an object`);
    return v;
  };

  if (has('getOwnPropertyDescriptors')) {
    const { getOwnPropertyDescriptor, getOwnPropertyNames, getOwnPropertySymbols } = Object;
    define(Object, {
      // The engine's loses the length of an array.
      getOwnPropertyDescriptors(o) {
        const all = {}, from = Object(o);
        const describe = (keys) => {
          for (let i = 0; i < keys.length; i++) {
            const value = getOwnPropertyDescriptor(from, keys[i]);
            if (value) defineProperty(all, keys[i], { __proto__: null, value, writable: true, configurable: true, enumerable: true });
          }
        };
        describe(getOwnPropertyNames(from));
        describe(getOwnPropertySymbols(from));
        return all;
      },
    });
  }
  if (has('groupBy')) {
    const { create } = Object;
    const { get: mapGet, set: mapSet, has: mapHas } = Map.prototype;
    const grouped = (items, callback, key, add) => {
      if (items === null || items === undefined) throw new TypeError(`${items} is not iterable`);
      callable(callback, 'groupBy callback');
      let index = 0;
      for (const item of items) add(key(callback(item, index++)), item);
    };
    define(Object, {
      groupBy(items, callback) {
        const groups = create(null);
        grouped(items, callback, (k) => (typeof k === 'symbol' ? k : `${k}`), (k, item) => {
          if (k in groups) groups[k][groups[k].length] = item;
          else groups[k] = [item];
        });
        return groups;
      },
    });
    define(Map, {
      groupBy(items, callback) {
        const groups = new Map();
        grouped(items, callback, (k) => (k === 0 ? 0 : k), (k, item) => {
          if (apply(mapHas, groups, [k])) {
            const group = apply(mapGet, groups, [k]);
            group[group.length] = item;
          } else apply(mapSet, groups, [k, [item]]);
        });
        return groups;
      },
    });
  }
  if (has('getOrInsert') || has('getOrInsertComputed')) {
    define(Map.prototype, {
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
  }
  if (has('fromAsync')) {
    define(Array, {
      async fromAsync(source, mapper = undefined, thisArg = undefined) {
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
  }
  if (has('toLocaleLowerCase') || has('toLocaleUpperCase')) {
    // The engine's ignore the locale.
    const { toLowerCase, toUpperCase } = String.prototype;
    define(String.prototype, {
      toLocaleLowerCase(locale = undefined) {
        native.checkCase(locale);
        return apply(toLowerCase, this, []);
      },
      toLocaleUpperCase(locale = undefined) {
        native.checkCase(locale);
        return apply(toUpperCase, this, []);
      },
    });
  }
  if (has('toLocaleString')) {
    // The engine's hand no locale on to the elements.
    const { join } = Array.prototype;
    const open = [];
    const localeStrings = {
      toLocaleString(locales = undefined, options = undefined) {
        const list = Object(this), texts = [];
        for (let i = 0; i < open.length; i++) if (open[i] === list) return '';
        open[open.length] = list;
        try {
          for (let i = 0; i < list.length; i++) {
            const item = list[i];
            texts[i] = item === undefined || item === null ? '' : `${item.toLocaleString(locales, options)}`;
          }
        } finally {
          open.length--;
        }
        return apply(join, texts, [',']);
      },
    };
    define(Array.prototype, localeStrings);
    define(getPrototypeOf(Uint8Array.prototype), localeStrings);
  }
  if (has('withResolvers')) {
    define(Promise, {
      withResolvers() {
        let resolve, reject;
        const promise = new this((a, b) => { resolve = a; reject = b; });
        return { promise, resolve, reject };
      },
    });
  }
  if (has('try')) {
    define(Promise, {
      try(callback, ...args) {
        return new this((resolve) => resolve(callback(...args)));
      },
    });
  }
  if (has('captureStackTrace')) {
    define(Error, {
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
  }
  if (hasGlobal('queueMicrotask')) {
    define(globalThis, {
      queueMicrotask(callback) {
        callable(callback, 'queueMicrotask callback');
        (async () => {
          await undefined;
          callback();
        })();
      },
    });
  }
  if (!native.iterators) return;

  // Iterator helpers. What they share is made when a program first uses one. A
  // source is an iterator with its next method read once.
  const IteratorPrototype = getPrototypeOf(getPrototypeOf([][iterator]()));
  const { toStringTag } = Symbol;
  const makeIterators = () => {
    const opened = (it, name) => ({ it: object(it, `Iterator.prototype.${name} receiver`), next: undefined });
    const started = (o) => {
      o.next = o.it.next;
      return o;
    };
    const step = (o) => object(apply(o.next, o.it, []), 'iterator result');
    const close = (o) => {
      const { return: stop } = o.it;
      if (stop !== undefined && stop !== null) object(apply(stop, o.it, []), 'result of return');
    };
    // checked closes a source when check throws; what that throws is forgotten.
    const checked = (o, check) => {
      try {
        return check();
      } catch (error) {
        try { close(o); } catch {}
        throw error;
      }
    };
    const withCallback = (it, name, callback) => {
      const o = opened(it, name);
      checked(o, () => callable(callback, `Iterator.prototype.${name} callback`));
      return started(o);
    };
    const withLimit = (it, name, limit) => {
      const o = opened(it, name);
      const n = checked(o, () => {
        const n = Number(limit);
        if (n !== n) throw new RangeError(`Iterator.prototype.${name}: the limit is not a number`);
        if (n <= -1) throw new RangeError(`Iterator.prototype.${name}: the limit is negative`);
        return Math.trunc(n);
      });
      return [started(o), n];
    };
    const end = {}; // what a producer gives when there is no more
    const finished = () => ({ value: undefined, done: true });
    const Base = function () {};
    Base.prototype = IteratorPrototype;
    class Helper extends Base {
      #produce; #stop; #done = false; #busy = false;
      constructor(produce, stop) {
        super();
        this.#produce = produce;
        this.#stop = stop;
      }
      next() {
        this.#enter();
        if (this.#done) return finished();
        this.#busy = true;
        let value = end;
        try {
          value = (0, this.#produce)();
        } finally {
          this.#busy = false;
          if (value === end) this.#done = true;
        }
        return value === end ? finished() : { value, done: false };
      }
      return() {
        this.#enter();
        if (!this.#done) {
          this.#done = true;
          (0, this.#stop)();
        }
        return finished();
      }
      #enter() { if (this.#busy) throw new TypeError('the iterator helper is running already'); }
    }
    const finish = (Class, tag) => {
      delete Class.prototype.constructor;
      if (tag) defineProperty(Class.prototype, toStringTag, { __proto__: null, value: tag, configurable: true });
    };
    finish(Helper, 'Iterator Helper');
    const helper = (o, produce) => new Helper(produce, () => close(o));
    const visitAll = (it, name, callback, visit) => {
      const o = withCallback(it, name, callback);
      let index = 0;
      for (;;) {
        const s = step(o);
        if (s.done) return undefined;
        const { value } = s;
        const stop = checked(o, () => visit(value, index++));
        if (stop !== undefined) {
          close(o);
          return stop.value;
        }
      }
    };
    // flattened is the iterator of what a flatMap callback or Iterator.from got.
    const flattened = (v, strings) => {
      if (!(strings && typeof v === 'string')) object(v, strings ? 'Iterator.from argument' : 'flatMap result');
      const open = v[iterator];
      const it = open === undefined || open === null ? v : object(apply(open, v, []), 'iterator');
      return { it, next: it.next };
    };
    class Wrapper extends Base {
      #source;
      constructor(source) {
        super();
        this.#source = source;
      }
      next() { return apply(this.#source.next, this.#source.it, []); }
      return() {
        const { it } = this.#source, { return: stop } = it;
        return stop === undefined || stop === null ? finished() : apply(stop, it, []);
      }
    }
    finish(Wrapper);
    return {
      map(self, callback) {
        const o = withCallback(self, 'map', callback);
        let index = 0;
        return helper(o, () => {
          const s = step(o);
          if (s.done) return end;
          const { value } = s;
          return checked(o, () => callback(value, index++));
        });
      },
      filter(self, callback) {
        const o = withCallback(self, 'filter', callback);
        let index = 0;
        return helper(o, () => {
          for (;;) {
            const s = step(o);
            if (s.done) return end;
            const { value } = s;
            if (checked(o, () => callback(value, index++))) return value;
          }
        });
      },
      take(self, limit) {
        let [o, left] = withLimit(self, 'take', limit);
        return helper(o, () => {
          if (left-- <= 0) {
            close(o);
            return end;
          }
          const s = step(o);
          return s.done ? end : s.value;
        });
      },
      drop(self, limit) {
        let [o, left] = withLimit(self, 'drop', limit);
        return helper(o, () => {
          for (; left > 0; left--) if (step(o).done) return end;
          const s = step(o);
          return s.done ? end : s.value;
        });
      },
      flatMap(self, callback) {
        const o = withCallback(self, 'flatMap', callback);
        let index = 0, inner;
        return new Helper(() => {
          for (;;) {
            if (inner !== undefined) {
              const s = checked(o, () => { const s = step(inner); return s.done ? end : { value: s.value }; });
              if (s !== end) return s.value;
              inner = undefined;
            }
            const s = step(o);
            if (s.done) return end;
            const { value } = s;
            inner = checked(o, () => flattened(callback(value, index++), false));
          }
        }, () => {
          if (inner !== undefined) checked(o, () => close(inner));
          close(o);
        });
      },
      reduce(self, callback, empty, total) {
        visitAll(self, 'reduce', callback, (value, index) => {
          if (empty) { total = value; empty = false; } else total = callback(total, value, index);
        });
        if (empty) throw new TypeError('Iterator.prototype.reduce: an empty iterator needs an initial value');
        return total;
      },
      toArray(self) {
        const out = [];
        visitAll(self, 'toArray', () => {}, (value) => { out[out.length] = value; });
        return out;
      },
      forEach(self, callback) { visitAll(self, 'forEach', callback, (value, index) => { callback(value, index); }); },
      some(self, callback) { return visitAll(self, 'some', callback, (value, index) => (callback(value, index) ? { value: true } : undefined)) ?? false; },
      every(self, callback) { return visitAll(self, 'every', callback, (value, index) => (callback(value, index) ? undefined : { value: false })) ?? true; },
      find(self, callback) { return visitAll(self, 'find', callback, (value, index) => (callback(value, index) ? { value } : undefined)); },
      from(source, Iterator) {
        const o = flattened(source, true);
        return o.it instanceof Iterator ? o.it : new Wrapper(o);
      },
    };
  };
  let made;
  const iterators = () => made ??= makeIterators();
  // The constructor gets the engine's own prototype object, which generators and
  // built-in iterators inherit from.
  const Iterator = function Iterator() {
    if (new.target === undefined || new.target === Iterator) throw new TypeError('Iterator is an abstract class');
  };
  defineProperty(Iterator, 'prototype', { __proto__: null, value: IteratorPrototype, writable: false, configurable: false, enumerable: false });
  if (has('from')) define(Iterator, { from(source) { return iterators().from(source, Iterator); } });
  if (hasGlobal('Iterator')) define(globalThis, { Iterator });

  if (has('map')) define(IteratorPrototype, { map(callback) { return iterators().map(this, callback); } });
  if (has('filter')) define(IteratorPrototype, { filter(callback) { return iterators().filter(this, callback); } });
  if (has('take')) define(IteratorPrototype, { take(limit) { return iterators().take(this, limit); } });
  if (has('drop')) define(IteratorPrototype, { drop(limit) { return iterators().drop(this, limit); } });
  if (has('flatMap')) define(IteratorPrototype, { flatMap(callback) { return iterators().flatMap(this, callback); } });
  if (has('reduce')) define(IteratorPrototype, { reduce(callback) { return iterators().reduce(this, callback, arguments.length < 2, arguments[1]); } });
  if (has('toArray')) define(IteratorPrototype, { toArray() { return iterators().toArray(this); } });
  if (has('forEach')) define(IteratorPrototype, { forEach(callback) { iterators().forEach(this, callback); } });
  if (has('some')) define(IteratorPrototype, { some(callback) { return iterators().some(this, callback); } });
  if (has('every')) define(IteratorPrototype, { every(callback) { return iterators().every(this, callback); } });
  if (has('find')) define(IteratorPrototype, { find(callback) { return iterators().find(this, callback); } });
  define(IteratorPrototype, {
    constructor: Iterator,
    [toStringTag]: 'Iterator',
  });
  if (has('dispose')) define(IteratorPrototype, { [dispose]() { this.return?.(); } });
})

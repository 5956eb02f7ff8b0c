// Web globals. The function runs when a program first touches one of them.
(function (native) {
  'use strict';
  const U8 = native.Uint8Array;
  const { defineProperty } = Object;

  const tag = (constructor, name) => defineProperty(constructor.prototype, Symbol.toStringTag, { __proto__: null, value: name, configurable: true });

  const codes = { __proto__: null, IndexSizeError: 1, NotFoundError: 8, NotSupportedError: 9, InvalidStateError: 11, SyntaxError: 12,
    InvalidAccessError: 15, TypeMismatchError: 17, SecurityError: 18, NetworkError: 19, AbortError: 20, URLMismatchError: 21,
    QuotaExceededError: 22, TimeoutError: 23, InvalidNodeTypeError: 24, DataCloneError: 25, InvalidCharacterError: 5 };
  class DOMException extends Error {
    #name;
    constructor(message = '', options = 'Error') {
      super(message);
      this.#name = `${typeof options === 'object' && options !== null ? options.name ?? 'Error' : options}`;
      defineProperty(this, 'name', { __proto__: null, value: this.#name, writable: true, configurable: true, enumerable: false });
      if (typeof options === 'object' && options !== null && 'cause' in options) {
        defineProperty(this, 'cause', { __proto__: null, value: options.cause, writable: true, configurable: true, enumerable: false });
      }
    }
    get code() { return codes[this.#name] ?? 0; }
  }
  tag(DOMException, 'DOMException');

  class Event {
    #type; #cancelable; #bubbles; #prevented = false; #time = native.now();
    constructor(type, options) {
      if (arguments.length === 0) throw new TypeError('Event needs a type');
      this.#type = `${type}`;
      this.#bubbles = !!options?.bubbles;
      this.#cancelable = !!options?.cancelable;
    }
    get type() { return this.#type; }
    get bubbles() { return this.#bubbles; }
    get cancelable() { return this.#cancelable; }
    get defaultPrevented() { return this.#prevented; }
    get timeStamp() { return this.#time; }
    preventDefault() { if (this.#cancelable) this.#prevented = true; }
    stopPropagation() {}
    stopImmediatePropagation() { defineProperty(this, stopped, { __proto__: null, value: true }); }
  }
  const stopped = Symbol('stopped');
  tag(Event, 'Event');
  class CustomEvent extends Event {
    #detail;
    constructor(type, options) { super(type, options); this.#detail = options?.detail ?? null; }
    get detail() { return this.#detail; }
  }
  tag(CustomEvent, 'CustomEvent');

  const report = (error) => queueMicrotask(() => { throw error; });
  class EventTarget {
    #listeners = [];
    addEventListener(type, callback, options) {
      if (callback === null || callback === undefined) return;
      const signal = options?.signal;
      if (signal?.aborted) return;
      type = `${type}`;
      if (this.#listeners.some((l) => l.type === type && l.callback === callback)) return;
      this.#listeners.push({ type, callback, once: !!options?.once });
      signal?.addEventListener('abort', () => this.removeEventListener(type, callback), { once: true });
    }
    removeEventListener(type, callback) {
      type = `${type}`;
      this.#listeners = this.#listeners.filter((l) => !(l.type === type && l.callback === callback));
    }
    dispatchEvent(event) {
      if (!(event instanceof Event)) throw new TypeError('dispatchEvent needs an Event');
      for (const name of ['target', 'currentTarget', 'srcElement']) {
        defineProperty(event, name, { __proto__: null, value: this, configurable: true, enumerable: false });
      }
      const handler = this[`on${event.type}`];
      if (typeof handler === 'function') {
        try { handler.call(this, event); } catch (error) { report(error); }
      }
      for (const l of this.#listeners) {
        if (l.type !== event.type || event[stopped]) continue;
        if (l.once) this.removeEventListener(l.type, l.callback);
        try {
          if (typeof l.callback === 'function') l.callback.call(this, event);
          else l.callback.handleEvent(event);
        } catch (error) { report(error); }
      }
      return !event.defaultPrevented;
    }
  }
  tag(EventTarget, 'EventTarget');

  const key = Symbol('key');
  let abort;
  class AbortSignal extends EventTarget {
    #aborted = false; #reason; #followers = [];
    onabort = null;
    constructor(k) {
      if (k !== key) throw new TypeError('AbortSignal cannot be constructed; use AbortController');
      super();
      defineProperty(this, 'onabort', { __proto__: null, value: null, writable: true, configurable: true, enumerable: false });
    }
    get aborted() { return this.#aborted; }
    get reason() { return this.#reason; }
    throwIfAborted() { if (this.#aborted) throw this.#reason; }
    static {
      abort = (signal, reason) => {
        if (signal.#aborted) return;
        signal.#aborted = true;
        signal.#reason = reason === undefined ? new DOMException('This operation was aborted', 'AbortError') : reason;
        signal.dispatchEvent(new Event('abort'));
        for (const follower of signal.#followers) abort(follower, signal.#reason);
        signal.#followers = [];
      };
    }
    static abort(reason) {
      const signal = new AbortSignal(key);
      abort(signal, reason);
      return signal;
    }
    static timeout(ms) {
      ms = Number(ms);
      if (!(ms >= 0)) throw new RangeError('AbortSignal.timeout needs a number of milliseconds');
      const signal = new AbortSignal(key);
      native.after(ms, () => abort(signal, new DOMException('The operation was aborted due to timeout', 'TimeoutError')));
      return signal;
    }
    static any(signals) {
      const signal = new AbortSignal(key);
      const sources = [...signals];
      for (const source of sources) {
        if (!(source instanceof AbortSignal)) throw new TypeError('AbortSignal.any needs AbortSignals');
      }
      for (const source of sources) {
        if (source.#aborted) { abort(signal, source.#reason); return signal; }
      }
      for (const source of sources) source.#followers.push(signal);
      return signal;
    }
  }
  tag(AbortSignal, 'AbortSignal');
  class AbortController {
    #signal = new AbortSignal(key);
    get signal() { return this.#signal; }
    abort(reason) { abort(this.#signal, reason); }
  }
  tag(AbortController, 'AbortController');

  const bytesOf = (source, what) => {
    if (source === undefined) return new U8();
    if (native.kind(source) === 'ArrayBuffer') return new U8(source);
    if (ArrayBuffer.isView(source)) return new U8(source.buffer, source.byteOffset, source.byteLength);
    throw new TypeError(`${what} needs an ArrayBuffer, a typed array or a DataView`);
  };
  class TextEncoder {
    get encoding() { return 'utf-8'; }
    encode(text = '') { return new U8(native.utf8(`${text}`)); }
    encodeInto(text, target) {
      if (!(target instanceof U8)) throw new TypeError('TextEncoder.encodeInto needs a Uint8Array');
      let read = 0, written = 0;
      for (const char of `${text}`) {
        const bytes = new U8(native.utf8(char));
        if (written + bytes.length > target.length) break;
        target.set(bytes, written);
        written += bytes.length;
        read += char.length;
      }
      return { read, written };
    }
  }
  tag(TextEncoder, 'TextEncoder');
  class TextDecoder {
    #encoding; #fatal; #ignoreBOM; #pending = new U8(); #started = false;
    constructor(label = 'utf-8', options) {
      this.#encoding = native.encoding(`${label}`);
      this.#fatal = !!options?.fatal;
      this.#ignoreBOM = !!options?.ignoreBOM;
    }
    get encoding() { return this.#encoding; }
    get fatal() { return this.#fatal; }
    get ignoreBOM() { return this.#ignoreBOM; }
    decode(source, options) {
      const stream = !!options?.stream;
      let bytes = bytesOf(source, 'TextDecoder.decode');
      if (this.#pending.length > 0) {
        const joined = new U8(this.#pending.length + bytes.length);
        joined.set(this.#pending);
        joined.set(bytes, this.#pending.length);
        bytes = joined;
      }
      const keep = stream ? native.incomplete(bytes, this.#encoding) : 0;
      this.#pending = bytes.slice(bytes.length - keep);
      let text;
      try {
        text = native.decode(bytes.slice(0, bytes.length - keep), this.#encoding, this.#fatal);
      } catch (error) {
        this.#pending = new U8();
        this.#started = false;
        throw error;
      }
      if (!this.#started && !this.#ignoreBOM && text.charCodeAt(0) === 0xFEFF) text = text.slice(1);
      this.#started = stream && (this.#started || text !== '' || bytes.length > keep);
      return text;
    }
  }
  tag(TextDecoder, 'TextDecoder');

  class Crypto {
    getRandomValues(array) {
      if (!ArrayBuffer.isView(array) || array instanceof Float32Array || array instanceof Float64Array || array instanceof DataView) {
        throw new DOMException('getRandomValues needs an integer typed array', 'TypeMismatchError');
      }
      if (array.byteLength > 65536) throw new DOMException(`getRandomValues fills at most 65536 bytes, not ${array.byteLength}`, 'QuotaExceededError');
      new U8(array.buffer, array.byteOffset, array.byteLength).set(new U8(native.random(array.byteLength)));
      return array;
    }
    randomUUID() { return native.randomUUID(); }
  }
  tag(Crypto, 'Crypto');

  class Performance {
    get timeOrigin() { return native.timeOrigin; }
    now() { return native.now(); }
    mark() {}
    measure() {}
    toJSON() { return { timeOrigin: native.timeOrigin }; }
  }
  tag(Performance, 'Performance');

  const collectable = (v) => v !== null && (typeof v === 'object' || typeof v === 'function' || typeof v === 'symbol');
  class WeakRef {
    #target;
    constructor(target) {
      if (!collectable(target)) throw new TypeError('WeakRef needs an object');
      this.#target = target;
    }
    deref() { return this.#target; }
  }
  tag(WeakRef, 'WeakRef');
  class FinalizationRegistry {
    #tokens = new Set();
    constructor(callback) {
      if (typeof callback !== 'function') throw new TypeError('FinalizationRegistry needs a function');
    }
    register(target, held, token = undefined) {
      if (!collectable(target)) throw new TypeError('FinalizationRegistry.prototype.register needs an object');
      if (target === held) throw new TypeError('FinalizationRegistry.prototype.register: the target must not be the value held for it');
      if (collectable(token)) this.#tokens.add(token);
      else if (token !== undefined) throw new TypeError('FinalizationRegistry.prototype.register: the token is not an object');
    }
    unregister(token) {
      if (!collectable(token)) throw new TypeError('FinalizationRegistry.prototype.unregister needs an object');
      return this.#tokens.delete(token);
    }
  }
  tag(FinalizationRegistry, 'FinalizationRegistry');

  const ok = Symbol('ok');
  const wellFormed = (value) => native.toWellFormed(`${value}`);
  let reread;
  class URLSearchParams {
    #pairs; #url;
    constructor(init = '', url) {
      this.#url = url?.[ok] ? url : undefined;
      this.#pairs = [];
      if (typeof init === 'object' && init !== null || typeof init === 'function') {
        if (typeof init[Symbol.iterator] === 'function') {
          for (const pair of init) {
            const both = [...pair];
            if (both.length !== 2) throw new TypeError('URLSearchParams: each entry must be a [name, value] pair');
            this.#pairs.push(wellFormed(both[0]), wellFormed(both[1]));
          }
        } else {
          for (const name of Reflect.ownKeys(init)) {
            if (Object.prototype.propertyIsEnumerable.call(init, name)) this.#pairs.push(wellFormed(name), wellFormed(init[name]));
          }
        }
      } else this.#pairs = native.parseQuery(`${init}`.replace(/^\?/, ''));
    }
    #changed() { this.#url?.[ok](this.toString()); }
    static {
      reread = (params, query) => { params.#pairs = native.parseQuery(query); };
    }
    get size() { return this.#pairs.length / 2; }
    get [native.pairs]() { return this.#pairs; }
    append(name, value) { this.#pairs.push(wellFormed(name), wellFormed(value)); this.#changed(); }
    delete(name, value) {
      name = `${name}`;
      const kept = [];
      for (let i = 0; i < this.#pairs.length; i += 2) {
        if (this.#pairs[i] !== name || value !== undefined && this.#pairs[i + 1] !== `${value}`) kept.push(this.#pairs[i], this.#pairs[i + 1]);
      }
      this.#pairs = kept;
      this.#changed();
    }
    get(name) {
      name = `${name}`;
      for (let i = 0; i < this.#pairs.length; i += 2) if (this.#pairs[i] === name) return this.#pairs[i + 1];
      return null;
    }
    getAll(name) {
      name = `${name}`;
      const all = [];
      for (let i = 0; i < this.#pairs.length; i += 2) if (this.#pairs[i] === name) all.push(this.#pairs[i + 1]);
      return all;
    }
    has(name, value) {
      name = `${name}`;
      for (let i = 0; i < this.#pairs.length; i += 2) {
        if (this.#pairs[i] === name && (value === undefined || this.#pairs[i + 1] === `${value}`)) return true;
      }
      return false;
    }
    set(name, value) {
      name = wellFormed(name);
      value = wellFormed(value);
      const kept = [];
      let found = false;
      for (let i = 0; i < this.#pairs.length; i += 2) {
        if (this.#pairs[i] !== name) kept.push(this.#pairs[i], this.#pairs[i + 1]);
        else if (!found) { kept.push(name, value); found = true; }
      }
      if (!found) kept.push(name, value);
      this.#pairs = kept;
      this.#changed();
    }
    sort() {
      const pairs = [...this].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      this.#pairs = pairs.flat();
      this.#changed();
    }
    forEach(callback, thisArg) { for (const [name, value] of this) callback.call(thisArg, value, name, this); }
    *entries() { for (let i = 0; i < this.#pairs.length; i += 2) yield [this.#pairs[i], this.#pairs[i + 1]]; }
    *keys() { for (let i = 0; i < this.#pairs.length; i += 2) yield this.#pairs[i]; }
    *values() { for (let i = 0; i < this.#pairs.length; i += 2) yield this.#pairs[i + 1]; }
    toString() { return native.formatQuery(this.#pairs); }
  }
  defineProperty(URLSearchParams.prototype, Symbol.iterator, { __proto__: null, value: URLSearchParams.prototype.entries, writable: true, configurable: true });
  tag(URLSearchParams, 'URLSearchParams');

  class URL {
    #parts; #params;
    constructor(url, base) {
      if (arguments.length === 0) throw new TypeError('URL needs a text');
      this.#parts = native.parseURL(`${url}`, base === undefined ? undefined : `${base}`);
      if (this.#parts === null) {
        const error = new TypeError('Invalid URL');
        error.code = 'ERR_INVALID_URL';
        error.input = `${url}`;
        if (base !== undefined) error.base = `${base}`;
        throw error;
      }
    }
    static canParse(url, base) { return native.parseURL(`${url}`, base === undefined ? undefined : `${base}`) !== null; }
    static parse(url, base) { return URL.canParse(url, base) ? new URL(url, base) : null; }
    #set(name, value) {
      this.#parts = native.setURL(this.#parts[0], name, `${value}`);
      if (name === 'search' && this.#params) reread(this.#params, this.#parts[9].slice(1));
    }
    get href() { return this.#parts[0]; }
    set href(value) {
      const parts = native.parseURL(`${value}`);
      if (parts === null) throw new TypeError('Invalid URL');
      this.#parts = parts;
      if (this.#params) reread(this.#params, parts[9].slice(1));
    }
    get origin() { return this.#parts[1]; }
    get protocol() { return this.#parts[2]; }
    set protocol(value) { this.#set('protocol', value); }
    get username() { return this.#parts[3]; }
    set username(value) { this.#set('username', value); }
    get password() { return this.#parts[4]; }
    set password(value) { this.#set('password', value); }
    get host() { return this.#parts[5]; }
    set host(value) { this.#set('host', value); }
    get hostname() { return this.#parts[6]; }
    set hostname(value) { this.#set('hostname', value); }
    get port() { return this.#parts[7]; }
    set port(value) { this.#set('port', value); }
    get pathname() { return this.#parts[8]; }
    set pathname(value) { this.#set('pathname', value); }
    get search() { return this.#parts[9]; }
    set search(value) { this.#set('search', value); }
    get searchParams() {
      if (!this.#params) {
        const update = (query) => { this.#parts = native.setURL(this.#parts[0], 'search', query); };
        this.#params = new URLSearchParams(this.#parts[9], { [ok]: update });
      }
      return this.#params;
    }
    get hash() { return this.#parts[10]; }
    set hash(value) { this.#set('hash', value); }
    toString() { return this.#parts[0]; }
    toJSON() { return this.#parts[0]; }
  }
  tag(URL, 'URL');

  const refuse = (what) => { throw new DOMException(`${what} could not be cloned.`, 'DataCloneError'); };
  const errors = { __proto__: null, Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
  const views = { __proto__: null };
  for (const name of ['Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array', 'Float32Array', 'Float64Array', 'BigInt64Array', 'BigUint64Array', 'DataView']) {
    if (globalThis[name]) views[name] = globalThis[name];
  }
  const viewTag = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(U8.prototype), Symbol.toStringTag).get;
  const put = (o, k, value) => defineProperty(o, k, { __proto__: null, value, writable: true, configurable: true, enumerable: true });
  // The copies of containers are filled from a list of work, so that deep data
  // does not nest calls.
  const { transfer } = ArrayBuffer.prototype;
  const structuredClone = function structuredClone(value, options) {
    if (arguments.length === 0) throw new TypeError('structuredClone needs a value');
    const moved = [...options?.transfer ?? []];
    moved.forEach((buffer, i) => {
      if (native.kind(buffer) !== 'ArrayBuffer' || buffer.detached || moved.indexOf(buffer) !== i) refuse(native.show(buffer));
    });
    const seen = new Map(), work = [];
    const copy = (v) => {
      if (typeof v === 'function') refuse(native.show(v));
      if (typeof v === 'symbol') refuse(native.show(v));
      if (v === null || typeof v !== 'object') return v;
      if (seen.has(v)) return seen.get(v);
      if (v instanceof WeakMap || v instanceof WeakSet || v instanceof WeakRef) refuse(native.show(v));
      const out = shell(v, v instanceof DataView ? 'DataView' : native.kind(v));
      seen.set(v, out);
      return out;
    };
    const shell = (v, kind) => {
      switch (kind) {
        case 'Array': { const a = []; work.push(() => { for (const k of Object.keys(v)) put(a, k, copy(v[k])); a.length = v.length; }); return a; }
        case 'Object': { const o = {}; work.push(() => { for (const k of Object.keys(v)) put(o, k, copy(v[k])); }); return o; }
        case 'Map': { const m = new Map(), entries = [...Map.prototype.entries.call(v)]; work.push(() => { for (const [k, x] of entries) m.set(copy(k), copy(x)); }); return m; }
        case 'Set': { const s = new Set(), values = [...Set.prototype.values.call(v)]; work.push(() => { for (const x of values) s.add(copy(x)); }); return s; }
        case 'Date': return new Date(Date.prototype.getTime.call(v));
        case 'RegExp': return new RegExp(v.source, v.flags);
        case 'Number': case 'String': case 'Boolean': case 'BigInt': return Object(v.valueOf());
        case 'ArrayBuffer': return v.slice(0);
        case 'View': {
          const name = viewTag.call(v);
          return new views[name](copy(v.buffer), v.byteOffset, v.length);
        }
        case 'Error': {
          const e = new (errors[v.name] ?? Error)(v.message);
          if (typeof v.stack === 'string') defineProperty(e, 'stack', { __proto__: null, value: v.stack, writable: true, configurable: true });
          if (Object.hasOwn(v, 'cause')) work.push(() => defineProperty(e, 'cause', { __proto__: null, value: copy(v.cause), writable: true, configurable: true }));
          return e;
        }
        case 'DataView': return new DataView(copy(v.buffer), v.byteOffset, v.byteLength);
      }
      refuse(native.show(v));
    };
    const out = copy(value);
    while (work.length > 0) work.pop()();
    for (const buffer of moved) transfer.call(buffer);
    return out;
  };

  return {
    __proto__: null,
    DOMException, Event, CustomEvent, EventTarget, AbortSignal, AbortController, TextEncoder, TextDecoder,
    Crypto, crypto: new Crypto(), Performance, performance: new Performance(), WeakRef, FinalizationRegistry, structuredClone, URL, URLSearchParams,
  };
})

// Node's Buffer, as far as it is a Uint8Array with encodings. The function runs
// when a program first touches Buffer.
(function (native) {
  'use strict';
  const U8 = native.Uint8Array;
  const { defineProperty } = Object;
  const refuse = (what) => { throw new TypeError(`The first argument must be of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object. Received ${native.show(what)}`); };
  const view = (bytes) => {
    const u = new U8(bytes);
    return new Buffer(u.buffer, u.byteOffset, u.length);
  };
  const encoding = (name) => {
    const known = native.bufferEncoding(name === undefined || name === null ? 'utf8' : `${name}`);
    if (known === '') throw new TypeError(`Unknown encoding: ${name}`);
    return known;
  };
  const bytesOf = (value, enc) => (typeof value === 'string' ? new U8(native.bufferBytes(value, encoding(enc))) : value);
  const isAt = (buffer, at, bytes) => {
    for (let j = 0; j < bytes.length; j++) if (buffer[at + j] !== bytes[j]) return false;
    return true;
  };
  const clamp = (n, low, high, absent) => {
    n = n === undefined ? absent : Math.trunc(Number(n)) || 0;
    return Math.min(Math.max(n, low), high);
  };
  class Buffer extends U8 {
    constructor(value, offset, length) {
      if (typeof value === 'number' || typeof value === 'string') native.bounded('new Buffer', value);
      super(value, offset, length);
    }
    static from(value, enc, length) {
      if (typeof value === 'string') return view(native.bufferBytes(value, encoding(enc)));
      if (value === null || typeof value !== 'object' && typeof value !== 'function') refuse(value);
      if (native.kind(value) === 'ArrayBuffer') return new Buffer(value, enc, length);
      if (value.type === 'Buffer' && Array.isArray(value.data)) value = value.data;
      const primitive = typeof value[Symbol.toPrimitive] === 'function' ? value[Symbol.toPrimitive]('string') : value.valueOf?.();
      if (typeof primitive === 'string') return Buffer.from(primitive, enc);
      if (typeof value.length !== 'number') refuse(value);
      native.bounded('Buffer.from', value.length);
      const out = new Buffer(value.length);
      for (let i = 0; i < out.length; i++) out[i] = value[i];
      return out;
    }
    static alloc(size, fill, enc) {
      if (typeof size !== 'number') throw new TypeError(`The "size" argument must be of type number. Received ${native.show(size)}`);
      if (!(size >= 0)) throw new RangeError(`The value of "size" is out of range. Received ${size}`);
      native.bounded('Buffer.alloc', size);
      const out = new Buffer(Math.trunc(size));
      return fill === undefined || fill === 0 ? out : out.fill(fill, enc);
    }
    static allocUnsafe(size) { return Buffer.alloc(size); }
    static concat(list, total) {
      const parts = [...list];
      for (const part of parts) if (!(part instanceof U8)) throw new TypeError('The "list" argument must be an array of Buffers or Uint8Arrays');
      const length = total === undefined ? parts.reduce((n, part) => n + part.length, 0) : Number(total);
      const out = Buffer.alloc(length);
      let at = 0;
      for (const part of parts) {
        if (at >= length) break;
        const piece = at + part.length > length ? part.subarray(0, length - at) : part;
        out.set(piece, at);
        at += piece.length;
      }
      return out;
    }
    static isBuffer(value) { return value instanceof Buffer; }
    static isEncoding(name) { return typeof name === 'string' && native.bufferEncoding(name) !== ''; }
    static byteLength(value, enc) { return typeof value === 'string' ? bytesOf(value, enc).length : value.byteLength; }
    static compare(a, b) {
      const n = Math.min(a.length, b.length);
      for (let i = 0; i < n; i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
      return Math.sign(a.length - b.length);
    }
    toString(enc, start, end) {
      start = clamp(start, 0, this.length, 0);
      return native.bufferText(U8.prototype.slice.call(new U8(this.buffer, this.byteOffset, this.length), start, Math.max(clamp(end, 0, this.length, this.length), start)), encoding(enc));
    }
    toJSON() { return { type: 'Buffer', data: Array.from(this) }; }
    equals(other) { return Buffer.compare(this, other) === 0; }
    compare(other) { return Buffer.compare(this, other); }
    slice(start, end) { return this.subarray(start, end); }
    copy(target, at = 0, start = 0, end = this.length) {
      const piece = this.subarray(start, Math.min(end, start + target.length - at));
      target.set(piece, at);
      return piece.length;
    }
    write(text, offset = 0, length, enc) {
      if (typeof offset === 'string') [offset, length, enc] = [0, undefined, offset];
      if (typeof length === 'string') [length, enc] = [undefined, length];
      const bytes = bytesOf(`${text}`, enc);
      const n = Math.min(bytes.length, this.length - offset, length ?? Infinity);
      this.set(bytes.subarray(0, n), offset);
      return n;
    }
    fill(value, offset, end, enc) {
      if (typeof offset === 'string') [offset, enc] = [undefined, offset];
      if (typeof value !== 'string' && !(value instanceof U8)) return super.fill(value, offset, end);
      const bytes = bytesOf(value, enc);
      const stop = end ?? this.length;
      if (bytes.length > 0) for (let i = offset ?? 0; i < stop; i++) this[i] = bytes[(i - (offset ?? 0)) % bytes.length];
      return this;
    }
    indexOf(value, offset = 0, enc) {
      if (typeof value === 'number') return super.indexOf(value & 255, offset);
      const bytes = bytesOf(value, enc);
      for (let i = offset < 0 ? Math.max(this.length + offset, 0) : offset; i + bytes.length <= this.length; i++) if (isAt(this, i, bytes)) return i;
      return -1;
    }
    lastIndexOf(value, offset = this.length, enc) {
      if (typeof value === 'number') return super.lastIndexOf(value & 255, offset);
      const bytes = bytesOf(value, enc);
      for (let i = Math.min(offset < 0 ? this.length + offset : offset, this.length - bytes.length); i >= 0; i--) if (isAt(this, i, bytes)) return i;
      return -1;
    }
    includes(value, offset, enc) { return this.indexOf(value, offset, enc) >= 0; }
  }
  const define = (name, value) => defineProperty(Buffer.prototype, name, { __proto__: null, value, writable: true, configurable: true, enumerable: false });
  const check = (buffer, offset, size) => {
    if (!Number.isInteger(offset) || offset < 0 || offset + size > buffer.length) {
      throw new RangeError(`The value of "offset" is out of range. It must be >= 0 and <= ${buffer.length - size}. Received ${offset}`);
    }
    return new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
  };
  for (const [name, type, size] of [
    ['UInt8', 'Uint8', 1], ['Int8', 'Int8', 1], ['UInt16', 'Uint16', 2], ['Int16', 'Int16', 2], ['UInt32', 'Uint32', 4], ['Int32', 'Int32', 4],
    ['Float', 'Float32', 4], ['Double', 'Float64', 8], ['BigInt64', 'BigInt64', 8], ['BigUInt64', 'BigUint64', 8],
  ]) {
    for (const order of size === 1 ? [''] : ['LE', 'BE']) {
      const read = { [`read${name}${order}`](offset = 0) { return check(this, offset, size)[`get${type}`](offset, order === 'LE'); } };
      const write = { [`write${name}${order}`](value, offset = 0) { check(this, offset, size)[`set${type}`](offset, value, order === 'LE'); return offset + size; } };
      for (const members of [read, write]) {
        for (const method in members) {
          define(method, members[method]);
          if (method.includes('UInt')) define(method.replace('UInt', 'Uint'), members[method]);
        }
      }
    }
  }
  for (const order of ['LE', 'BE']) {
    const { [`readUInt${order}`]: readU, [`readInt${order}`]: readI, [`writeUInt${order}`]: write } = {
      [`readUInt${order}`](offset, length) {
        check(this, offset, length);
        let n = 0;
        for (let i = 0; i < length; i++) n = n * 256 + this[order === 'BE' ? offset + i : offset + length - 1 - i];
        return n;
      },
      [`readInt${order}`](offset, length) {
        const n = this[`readUInt${order}`](offset, length), half = 2 ** (8 * length - 1);
        return n >= half ? n - 2 * half : n;
      },
      [`writeUInt${order}`](value, offset, length) {
        check(this, offset, length);
        if (value < 0) value += 2 ** (8 * length);
        for (let i = 0; i < length; i++) {
          this[order === 'BE' ? offset + length - 1 - i : offset + i] = value % 256;
          value = Math.floor(value / 256);
        }
        return offset + length;
      },
    };
    define(`readUInt${order}`, readU);
    define(`readUint${order}`, readU);
    define(`readInt${order}`, readI);
    define(`writeUInt${order}`, write);
    define(`writeUint${order}`, write);
    define(`writeInt${order}`, write);
  }
  return Buffer;
})

// What async generators and for await are lowered to, in place of the helpers that
// the compiler writes. Those lose values and errors at the edges: return and throw
// that are passed on, results that are no objects, iterators without throw. Await
// is the class of what the compiler yields for an await; its second field is set
// for one inside yield*.
(() => {
  const isObject = (v) => v !== null && typeof v === 'object' || typeof v === 'function';
  const result = (v) => {
    if (isObject(v)) return v;
    throw new TypeError(`Iterator result ${String(v)} is not an object`);
  };
  const attempt = (f) => {
    try { return Promise.resolve(f()); } catch (e) { return Promise.reject(e); }
  };
  const noThrow = () => { throw new TypeError("The iterator does not provide a 'throw' method"); };

  // fromSync makes an async iterator of a sync one.
  const fromSync = (iterable) => {
    const open = iterable[Symbol.iterator];
    if (typeof open !== 'function') throw new TypeError(`${typeof iterable === 'object' ? 'object' : String(iterable)} is not async iterable`);
    const it = open.call(iterable);
    if (!isObject(it)) throw new TypeError('Result of the Symbol.iterator method is not an object');
    const { next } = it;
    const settle = (r, closes) => {
      const { done, value } = result(r);
      return Promise.resolve(value).then((value) => ({ value, done: !!done }), (e) => {
        if (!done && closes) try { it.return?.(); } catch {}
        throw e;
      });
    };
    return {
      next: (v) => attempt(() => settle(next.call(it, v), true)),
      return: (v) => attempt(() => {
        const f = it.return;
        return f == null ? { value: v, done: true } : settle(f.call(it, v), false);
      }),
      throw: (v) => attempt(() => {
        const f = it.throw;
        if (f != null) return settle(f.call(it, v), true);
        if (it.return != null) result(it.return());
        return noThrow();
      }),
    };
  };

  // opened is the async iterator of anything that has one.
  const opened = (iterable) => {
    const open = iterable[Symbol.asyncIterator];
    if (open == null) return fromSync(iterable);
    const it = open.call(iterable);
    if (!isObject(it)) throw new TypeError('Result of the Symbol.asyncIterator method is not an object');
    return it;
  };

  // iteration is what for await steps through. The loop itself tests what next
  // gives, so that it waits no longer than it should.
  const iteration = (iterable) => {
    const it = opened(iterable), { next } = it;
    return {
      next: () => next.call(it),
      get return() {
        const f = it.return;
        return f == null ? undefined : () => Promise.resolve(f.call(it)).then(result);
      },
    };
  };

  // delegation is what yield* steps through. Each step takes two: the first
  // yields an Await, the second gets what it came to.
  const delegation = (iterable, Await) => {
    const it = opened(iterable), { next } = it;
    let waits = false;
    const step = (promise) => {
      waits = true;
      return { done: false, value: new Await(promise, 1) };
    };
    const came = (v) => {
      waits = false;
      return result(v);
    };
    return {
      [Symbol.iterator]() { return this; },
      next: (v) => (waits ? came(v) : step(next.call(it, v))),
      return: (v) => {
        if (waits) return came(v);
        const f = it.return;
        return f == null ? { done: true, value: v } : step(f.call(it, v));
      },
      throw: (e) => {
        if (waits) {
          waits = false;
          throw e;
        }
        const f = it.throw;
        if (f != null) return step(f.call(it, e));
        return step(attempt(() => it.return?.() ?? {}).then(result).then(noThrow));
      },
    };
  };

  const state = new WeakMap();
  const request = (it, kind, value) => new Promise((yes, no) => {
    const s = state.get(it);
    if (s === undefined) throw new TypeError(`${kind} method called on incompatible receiver`);
    s.queue.push({ kind, value, yes, no });
    if (!s.busy) s.advance();
  });
  const prototype = {
    next(v) { return request(this, 'next', v); },
    return(v) { return request(this, 'return', v); },
    throw(v) { return request(this, 'throw', v); },
    [Symbol.asyncIterator]() { return this; },
    async [Symbol.asyncDispose]() { await this.return(); },
  };
  for (const key of Reflect.ownKeys(prototype)) Object.defineProperty(prototype, key, { enumerable: false });
  Object.defineProperty(prototype, Symbol.toStringTag, { value: 'AsyncGenerator', configurable: true });

  // generator runs a sync generator whose awaits are yields of Await.
  const generator = (self, args, body, Await) => {
    const gen = body.apply(self, args), queue = [];
    let started = false, over = false;
    const settle = (failed, value, done) => {
      const { yes, no } = queue.shift();
      s.busy = false;
      if (failed) no(value);
      else yes({ value, done });
      if (queue.length > 0 && !s.busy) s.advance();
    };
    const end = (failed, value) => {
      over = true;
      settle(failed, value, true);
    };
    const resume = (kind, v) => {
      let step;
      try { step = gen[kind](v); } catch (e) { return end(true, e); }
      const { value: x, done } = step;
      if (x instanceof Await) {
        const back = x[1] && kind === 'return' ? 'return' : 'next';
        Promise.resolve(x[0]).then((y) => resume(back, y), (e) => resume('throw', e));
      } else if (done) Promise.resolve(x).then((y) => end(false, y), (e) => end(true, e));
      else Promise.resolve(x).then((y) => settle(false, y, false), (e) => resume('throw', e));
    };
    const s = {
      queue,
      busy: false,
      advance() {
        const { kind, value } = queue[0];
        s.busy = true;
        if (!started && kind !== 'next') over = true;
        started = true;
        if (!over && kind !== 'return') resume(kind, value);
        else if (!over) attempt(() => value).then((v) => resume('return', v), (e) => resume('throw', e));
        else if (kind === 'return') attempt(() => value).then((v) => settle(false, v, true), (e) => settle(true, e));
        else settle(kind === 'throw', kind === 'throw' ? value : undefined, true);
      },
    };
    const it = Object.create(prototype);
    state.set(it, s);
    return it;
  };
  return { generator, delegation, iteration };
})()

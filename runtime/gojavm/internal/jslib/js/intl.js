// The part of Intl that English needs. The function runs when a program first
// touches Intl.
(function (native) {
  'use strict';
  const tag = (constructor, name) => Object.defineProperty(constructor.prototype, Symbol.toStringTag, { __proto__: null, value: `Intl.${name}`, configurable: true });
  const copy = (options) => ({ ...options });
  const callable = (Class) => {
    // NumberFormat and DateTimeFormat also work without new.
    const f = function (locales, options) { return new Class(locales, options); };
    Object.defineProperty(f, 'name', { __proto__: null, value: Class.name, configurable: true });
    Object.defineProperty(f, 'prototype', { __proto__: null, value: Class.prototype });
    Object.defineProperty(Class.prototype, 'constructor', { __proto__: null, value: f, writable: true, configurable: true });
    f.supportedLocalesOf = (locales) => [].concat(locales ?? []).filter((l) => `${l}` === 'en' || `${l}`.startsWith('en-'));
    tag(Class, Class.name);
    return f;
  };
  class NumberFormat {
    #locale; #options;
    constructor(locales, options) {
      this.#locale = native.locale(locales);
      this.#options = copy(options);
      native.number(0, this.#locale, this.#options);
    }
    get format() { return (value) => native.number(value, this.#locale, this.#options); }
    resolvedOptions() { return { locale: this.#locale, numberingSystem: 'latn', style: 'decimal', ...this.#options }; }
  }
  class DateTimeFormat {
    #locale; #options; #zone;
    constructor(locales, options) {
      this.#locale = native.locale(locales);
      this.#options = copy(options);
      this.#zone = native.zone(this.#options);
      native.date(0, this.#locale, this.#options);
    }
    get format() { return (value) => native.date(value === undefined ? Date.now() : Number(value), this.#locale, this.#options); }
    resolvedOptions() { return { locale: this.#locale, calendar: 'gregory', numberingSystem: 'latn', ...this.#options, timeZone: this.#zone }; }
  }
  class PluralRules {
    #ordinal;
    constructor(locales, options) {
      native.number(0, native.locale(locales), {});
      this.#ordinal = options?.type === 'ordinal';
    }
    select(n) {
      n = Number(n);
      if (!this.#ordinal) return n === 1 ? 'one' : 'other';
      const tens = n % 100, ones = n % 10;
      if (tens >= 11 && tens <= 13) return 'other';
      return ones === 1 ? 'one' : ones === 2 ? 'two' : ones === 3 ? 'few' : 'other';
    }
  }
  tag(PluralRules, 'PluralRules');
  class ListFormat {
    #word; #style;
    constructor(locales, options) {
      native.number(0, native.locale(locales), {});
      this.#word = options?.type === 'disjunction' ? 'or' : options?.type === 'unit' ? '' : 'and';
      this.#style = options?.style ?? 'long';
    }
    format(list) {
      const items = [...list], word = this.#word;
      if (items.length < 2) return items.join('');
      const last = items.pop();
      if (word === '') return `${items.join(', ')}, ${last}`;
      return items.length === 1 ? `${items[0]} ${word} ${last}` : `${items.join(', ')}, ${word} ${last}`;
    }
  }
  tag(ListFormat, 'ListFormat');
  class Collator {
    #locale; #options;
    constructor(locales, options) {
      this.#locale = native.locale(locales);
      this.#options = copy(options);
      native.compare('', '', this.#options);
    }
    get compare() { return (a, b) => native.compare(a, b, this.#options); }
    resolvedOptions() { return { locale: this.#locale, usage: 'sort', sensitivity: 'variant', ignorePunctuation: false, collation: 'default', numeric: false, caseFirst: 'false', ...this.#options }; }
  }
  tag(Collator, 'Collator');
  const Intl = Object.create(Object.prototype, { [Symbol.toStringTag]: { value: 'Intl', configurable: true } });
  for (const [name, value] of Object.entries({
    NumberFormat: callable(NumberFormat), DateTimeFormat: callable(DateTimeFormat), PluralRules, ListFormat, Collator,
    getCanonicalLocales: (locales) => [].concat(locales ?? []).map((l) => `${l}`),
  })) Object.defineProperty(Intl, name, { __proto__: null, value, writable: true, configurable: true, enumerable: false });
  return Intl;
})

// The part of Intl that English needs. The function runs when a program first
// touches Intl. The natives parse the options once and give a formatter.
(function (native) {
  'use strict';
  const { defineProperty } = Object;
  const hidden = (o, key, value) => defineProperty(o, key, { __proto__: null, value, writable: true, configurable: true, enumerable: false });
  // finish gives a class what all of Intl have.
  const finish = (Class, constructor = Class) => {
    defineProperty(Class.prototype, Symbol.toStringTag, { __proto__: null, value: `Intl.${Class.name}`, configurable: true });
    const { supportedLocalesOf } = { supportedLocalesOf(locales) { return native.locales(locales).filter((name) => native.supports(Class.name, name)); } };
    hidden(constructor, 'supportedLocalesOf', supportedLocalesOf);
    defineProperty(constructor, 'length', { __proto__: null, value: 0, configurable: true });
    return constructor;
  };
  // callable is a constructor that works without new too.
  const callable = (Class) => {
    const f = function (locales, options) { return new Class(locales, options); };
    defineProperty(f, 'name', { __proto__: null, value: Class.name, configurable: true });
    defineProperty(f, 'prototype', { __proto__: null, value: Class.prototype });
    hidden(Class.prototype, 'constructor', f);
    return finish(Class, f);
  };

  class NumberFormat {
    #made; #format;
    constructor(locales, options) { this.#made = native.number(locales, options); }
    get format() { return this.#format ??= (0, (value) => this.#made.format(value)); }
    formatToParts(value) { return this.#made.parts(value); }
    resolvedOptions() { return this.#made.resolved(); }
  }
  class DateTimeFormat {
    #made; #format;
    constructor(locales, options) { this.#made = native.date(locales, options); }
    get format() { return this.#format ??= (0, (date) => this.#made.format(date)); }
    formatToParts(date) { return this.#made.parts(date); }
    resolvedOptions() { return this.#made.resolved(); }
  }
  class Collator {
    #made; #compare;
    constructor(locales, options) { this.#made = native.collator(locales, options); }
    get compare() { return this.#compare ??= (0, (a, b) => this.#made.compare(a, b)); }
    resolvedOptions() { return this.#made.resolved(); }
  }

  class PluralRules {
    #locale; #type; #digits;
    constructor(locales, options) {
      this.#locale = native.language(locales, 'PluralRules');
      this.#type = native.choice(options, 'type', 'cardinal', 'ordinal');
      const { minimumIntegerDigits, minimumFractionDigits, maximumFractionDigits, minimumSignificantDigits, maximumSignificantDigits } = options ?? {};
      this.#digits = native.number('en-US', {
        minimumIntegerDigits, minimumFractionDigits, maximumFractionDigits, minimumSignificantDigits, maximumSignificantDigits, useGrouping: false, signDisplay: 'never',
      });
    }
    select(value) {
      const shown = this.#digits.format(+value);
      if (this.#type === 'cardinal') return /^0*1$/.test(shown) ? 'one' : 'other';
      const whole = /^\d+$/.test(shown) ? shown : '0', ones = whole.at(-1);
      if (whole.at(-2) === '1') return 'other';
      return ones === '1' ? 'one' : ones === '2' ? 'two' : ones === '3' ? 'few' : 'other';
    }
    resolvedOptions() {
      const digits = this.#digits.resolved();
      const out = { locale: this.#locale, type: this.#type };
      for (const name in digits) if (/^m/.test(name)) out[name] = digits[name];
      out.pluralCategories = this.#type === 'ordinal' ? ['one', 'two', 'few', 'other'] : ['one', 'other'];
      for (const name in digits) if (/^(r|tr)/.test(name)) out[name] = digits[name];
      return out;
    }
  }

  class ListFormat {
    #locale; #type; #style;
    constructor(locales, options) {
      this.#locale = native.language(locales, 'ListFormat');
      this.#type = native.choice(options, 'type', 'conjunction', 'disjunction', 'unit');
      this.#style = native.choice(options, 'style', 'long', 'short', 'narrow');
    }
    format(list) { return this.formatToParts(list).map((part) => part.value).join(''); }
    formatToParts(list) {
      const items = [];
      for (const value of list ?? []) {
        if (typeof value !== 'string') throw new TypeError('Iterable yielded a non-String value');
        items.push(value);
      }
      const parts = [];
      items.forEach((value, i) => {
        if (i > 0) parts.push({ type: 'literal', value: this.#between(i === items.length - 1, items.length) });
        parts.push({ type: 'element', value });
      });
      return parts;
    }
    #between(last, count) {
      if (this.#type === 'unit') return this.#style === 'narrow' ? ' ' : ', ';
      if (this.#type === 'conjunction' && this.#style === 'narrow' || !last) return ', ';
      const british = this.#locale === 'en-GB';
      const word = this.#type === 'disjunction' ? 'or' : this.#style === 'short' && !british ? '&' : 'and';
      return count === 2 || british ? ` ${word} ` : `, ${word} `;
    }
    resolvedOptions() { return { locale: this.#locale, type: this.#type, style: this.#style }; }
  }

  // Of each unit: what stands behind one and behind more, in full, short and
  // narrow; its name after "this"; whether it is a part of a calendar.
  const units = {
    __proto__: null,
    second: [' second', ' seconds', ' sec.', ' sec.', 's'], minute: [' minute', ' minutes', ' min.', ' min.', 'm'], hour: [' hour', ' hours', ' hr.', ' hr.', 'h'],
    day: [' day', ' days', ' day', ' days', 'd'], week: [' week', ' weeks', ' wk.', ' wk.', 'w'], month: [' month', ' months', ' mo.', ' mo.', 'mo'],
    quarter: [' quarter', ' quarters', ' qtr.', ' qtrs.', 'q'], year: [' year', ' years', ' yr.', ' yr.', 'y'],
  };
  class RelativeTimeFormat {
    #locale; #style; #numeric; #number;
    constructor(locales, options) {
      this.#locale = native.language(locales, 'RelativeTimeFormat');
      this.#style = native.choice(options, 'style', 'long', 'short', 'narrow');
      this.#numeric = native.choice(options, 'numeric', 'always', 'auto');
      if (this.#locale === 'en-GB' && this.#style !== 'long') throw new RangeError(`the style "${this.#style}" is not supported here for the locale "en-GB"; use en-US or the style "long"`);
      this.#number = native.number('en-US');
    }
    format(value, unit) { return this.formatToParts(value, unit).map((part) => part.value).join(''); }
    formatToParts(value, unit) {
      value = +value;
      const singular = `${unit}`.replace(/s$/, ''), forms = units[singular];
      if (forms === undefined) throw new RangeError(`Invalid unit argument for format() '${unit}'`);
      if (!Number.isFinite(value)) throw new RangeError('Invalid time value');
      const word = this.#numeric === 'auto' ? this.#word(value, singular, forms) : undefined;
      if (word !== undefined) return [{ type: 'literal', value: word }];
      const past = value < 0 || Object.is(value, -0);
      const parts = this.#number.parts(Math.abs(value));
      const one = parts.length === 1 && parts[0].value === '1';
      const behind = this.#style === 'narrow' ? forms[4] : forms[(this.#style === 'short' ? 2 : 0) + (one ? 0 : 1)];
      const out = parts.map((part) => ({ ...part, unit: singular }));
      if (past) return [...out, { type: 'literal', value: `${behind} ago` }];
      return [{ type: 'literal', value: 'in ' }, ...out, { type: 'literal', value: behind }];
    }
    #word(value, unit, forms) {
      if (value === 0) {
        if (unit === 'second') return 'now';
        if (unit === 'day') return 'today';
      }
      if (unit === 'day') return value === 1 ? 'tomorrow' : value === -1 ? 'yesterday' : undefined;
      const clock = unit === 'second' || unit === 'minute' || unit === 'hour';
      const prefix = value === 0 ? 'this' : clock ? undefined : value === 1 ? 'next' : value === -1 ? 'last' : undefined;
      if (prefix !== undefined) return prefix + (clock || this.#style === 'long' ? forms[0] : forms[2]);
      return undefined;
    }
    resolvedOptions() { return { locale: this.#locale, style: this.#style, numeric: this.#numeric, numberingSystem: 'latn' }; }
  }

  const Intl = Object.create(Object.prototype, { [Symbol.toStringTag]: { value: 'Intl', configurable: true } });
  const { getCanonicalLocales } = { getCanonicalLocales(locales) { return [...new Set(native.locales(locales))]; } };
  for (const [name, value] of Object.entries({
    NumberFormat: callable(NumberFormat), DateTimeFormat: callable(DateTimeFormat), Collator: callable(Collator),
    PluralRules: finish(PluralRules), ListFormat: finish(ListFormat), RelativeTimeFormat: finish(RelativeTimeFormat), getCanonicalLocales,
  })) hidden(Intl, name, value);
  return Intl;
})

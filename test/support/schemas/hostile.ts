/** `Object.fromEntries` of so many pairs. */
function many<T>(count: number, make: (at: number) => [string, T]): Record<string, T> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => make(at)));
}

function list<T>(count: number, make: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => make(at));
}

/** Definitions of which each uses the one before it, as `make` says, and the last is the schema. */
function levels(
  count: number,
  make: (before: { $ref: string }, at: number) => unknown,
  first: unknown = { type: 'object', properties: { a: {} } },
) {
  return {
    $defs: many(count + 1, (at) => [`L${at}`, at === 0 ? first : make({ $ref: `#/$defs/L${at - 1}` }, at)]),
    $ref: `#/$defs/L${count}`,
  };
}

const owning = (name: string) => ({ properties: { [name]: { type: 'integer' } }, required: [name] });

function nested(count: number, wrap: (inner: unknown) => unknown, first: unknown = { type: 'string' }): unknown {
  let out = first;
  for (let level = 0; level < count; level += 1) out = wrap(out);
  return out;
}

/** Schemas of an attacker, by what they multiply. */
export const HOSTILE_SCHEMAS: Readonly<Record<string, () => unknown>> = {
  'allOf that doubles': () => levels(20, (before) => ({ allOf: [before, before] })),
  'allOf that doubles, with parts of its own': () =>
    levels(20, (before, at) => ({ allOf: [before, { ...before, minProperties: at }], title: 'x' })),
  'anyOf that doubles': () => levels(20, (before) => ({ anyOf: [before, before] })),
  'anyOf that doubles with other properties': () =>
    levels(20, (before, at) => ({ anyOf: [{ allOf: [before, owning(`x${at}`)] }, { allOf: [before, owning(`y${at}`)] }] })),
  'oneOf that doubles beside properties': () =>
    levels(20, (before, at) => ({ ...owning(`p${at}`), oneOf: [before, { ...before, ...owning(`q${at}`) }] })),
  'properties that double': () => levels(40, (before) => ({ type: 'object', properties: { a: before, b: before }, required: ['a', 'b'] })),
  'a choice in each of many parts': () => ({ allOf: list(40, (at) => ({ anyOf: [owning(`a${at}`), owning(`b${at}`)] })) }),
  'a chain of references': () => levels(5_000, (before) => before),
  'a chain of references with siblings': () => levels(60, (before, at) => ({ ...before, minLength: at }), { type: 'string' }),
  'properties by patterns': () => ({
    type: 'object',
    properties: many(1_000, (at) => [`${'a'.repeat(40)}${at}`, {}]),
    patternProperties: many(1_000, (at) => [`^(a|a)*${at}$`, { type: 'string' }]),
  }),
  'property names by a pattern': () => ({ properties: many(2_000, (at) => [`n${at}`, {}]), propertyNames: { pattern: '^(a+)+$' } }),
  'an enumeration in a choice': () => ({ enum: list(1_000, String), anyOf: list(1_000, (at) => ({ const: `x${at}` })) }),
  'an enumeration of large values': () => ({ enum: list(900, (at) => ({ a: list(100, (n) => n * at) })), not: { const: 1 } }),
  'an enumeration and a pattern': () => ({ enum: list(1_000, (at) => 'a'.repeat(at)), pattern: '^(a|aa)+b$' }),
  'choices that are compared with each other': () => ({ oneOf: list(2_000, (at) => owning(`p${at}`)) }),
  'choices in each other': () => nested(60, (inner) => ({ anyOf: [inner, { type: 'integer' }, { type: 'array', items: inner }] })),
  'repetitions in repetitions': () => ({ type: 'string', pattern: '^((((a{50}){50}){50}){50}){50}$' }),
  'repetitions of what may be empty': () => ({ type: 'string', pattern: `^${'('.repeat(20)}a?b?c?d?e?${'*)?'.repeat(20)}*$` }),
  'many patterns': () => ({
    type: 'object',
    properties: many(500, (at) => [`p${at}`, { type: 'string', pattern: `${'(a|b)'.repeat(100)}${at}` }]),
  }),
  'many Unicode properties': () => ({
    type: 'object',
    properties: many(300, (at) => [
      `p${at}`,
      { type: 'string', pattern: list(16, (n) => `\\p{Script=${SCRIPTS[(at * 16 + n) % SCRIPTS.length]}}`).join('') },
    ]),
  }),
  'long lengths': () => ({
    type: 'object',
    properties: many(900, (at) => [`p${at}`, { type: 'string', minLength: 30_000 - at, maxLength: 31_000 + at }]),
  }),
  'tuples in tuples': () => levels(12, (before) => ({ type: 'array', prefixItems: list(100, () => before) })),
  'a tuple of many items': () => ({ type: 'array', prefixItems: list(50_000, () => ({ type: 'string' })) }),
  'many required names': () => ({ type: 'object', required: list(50_000, String) }),
  'long names': () => ({ type: 'object', properties: many(1_000, (at) => [`${'n'.repeat(5_000)}${at}`, {}]), additionalProperties: true }),
  'deep arrays': () => nested(100_000, (inner) => ({ items: inner })),
  'deep references': () => nested(3_000, (inner) => ({ allOf: [inner] })),
  'a long pointer': () => ({ $ref: `#${'/properties'.repeat(100_000)}` }),
  'many nodes': () => ({ type: 'object', properties: many(60_000, (at) => [`p${at}`, { type: 'string' }]) }),
  'a long constant': () => ({ const: 'x'.repeat(2_000_000) }),
  'a long description': () => ({ type: 'string', description: 'x'.repeat(5_000_000) }),
  'numbers of many steps': () => ({
    type: 'object',
    properties: many(2_000, (at) => [`p${at}`, { type: 'integer', multipleOf: (at % 60) + 3 }]),
  }),
};

const SCRIPTS =
  'Latin Greek Cyrillic Armenian Hebrew Arabic Syriac Thaana Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Thai Lao Tibetan Myanmar Georgian Hangul Ethiopic Cherokee Ogham Runic Khmer Mongolian Hiragana Katakana Bopomofo Han Yi Gothic Deseret Tagalog Hanunoo Buhid Tagbanwa Limbu Osmanya Cypriot Braille Buginese Coptic Tifinagh Glagolitic Kharoshthi Balinese Phoenician Nko Sundanese Lepcha Saurashtra Carian Lycian Lydian Cham Samaritan Lisu Vai Bamum Javanese'.split(
    ' ',
  );

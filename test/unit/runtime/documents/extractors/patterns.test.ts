import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { extractorOf } from '../../../../../runtime/documents/extractors/index.js';

interface Found {
  readonly matches: readonly unknown[];
  readonly count: number;
  readonly description: string;
}
const find = (text: string, options = {}): Record<string, Found> =>
  extractorOf('PatternExtractor').extract(text, options).output.patterns as Record<string, Found>;
const custom = (pattern: string, text: string, options = {}): Found =>
  find(text, { custom_patterns: [{ name: 'own', pattern, description: 'mine' }], ...options }).own!;

describe('predefined patterns', () => {
  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    ['email', 'a@b.org, no@x', ['a@b.org']],
    ['phone', '+1 (415) 555-2671, 0664 123 4567, 2024-03-05, 1.2.3.4, 12 34', ['+1 (415) 555-2671', '0664 123 4567']],
    ['url', 'http://a.b/c. HTTPS://D.e', ['http://a.b/c', 'HTTPS://D.e']],
    ['ip', '10.0.0.1 256.1.1.1 1.2.3.4.5', ['10.0.0.1']],
    ['ip_address', '192.168.1.255', ['192.168.1.255']],
    ['ssn', '123-45-6789 000-12-3456 666-12-3456 123-00-4567', ['123-45-6789']],
    ['credit_card', '4111 1111 1111 1111, 4111 1111 1111 1112, 378282246310005', ['4111 1111 1111 1111', '378282246310005']],
    ['zip_code', '90210, 12345-6789 123456 $50000', ['90210', '12345-6789']],
    ['file_path', 'in /etc/hosts and C:\\a\\b.txt and/or', ['/etc/hosts', 'C:\\a\\b.txt']],
    ['version', '1.2.3 v2.0 V3 1.0.0-rc.1 1.2 1.2.3.4', ['1.2.3', 'v2.0', 'V3', '1.0.0-rc.1']],
    ['date', '2024-03-05 or 5 May 2023 or May', ['2024-03-05', '5 May 2023']],
  ];
  for (const [name, text, expected] of cases) {
    it(name, () => assert.deepEqual(find(text, { predefined_patterns: [name] })[name]!.matches, expected));
  }
});

describe("the user's patterns", () => {
  it('gives matches, their number and the description', () => {
    assert.deepEqual(custom('[A-Z]{2}-\\d+', 'AB-1 cd-22 ab-1'), { matches: ['AB-1', 'cd-22'], count: 2, description: 'mine' });
    assert.deepEqual(custom('[A-Z]{2}-\\d+', 'AB-1 cd-22', { case_sensitive: true }).matches, ['AB-1']);
    assert.deepEqual(custom('^\\w+', 'one\ntwo').matches, ['one', 'two']);
  });

  it('gives offsets in code units, also behind characters outside the BMP', () => {
    const text = '😀 id7';
    const [match] = custom('id\\d', text, { return_positions: true }).matches as { text: string; start: number; end: number }[];
    assert.deepEqual(match, { text: 'id7', start: 3, end: 6 });
    assert.equal(text.slice(match!.start, match!.end), 'id7');
  });

  it('gives the text around a match', () => {
    const [match] = custom('x', `${'a'.repeat(60)}x${'b'.repeat(60)}`, { include_context: true }).matches;
    assert.deepEqual(match, { text: 'x', context: `${'a'.repeat(50)}x${'b'.repeat(50)}` });
  });

  it('passes over empty matches', () => {
    assert.deepEqual(custom('a*', 'baab').matches, ['aa']);
  });

  const hostile: readonly (readonly [string, string])[] = [
    ['(a+)+$', `${'a'.repeat(100_000)}!`],
    ['(x+x+)+y', 'x'.repeat(100_000)],
    ['(.*a){12}', 'a'.repeat(20_000)],
    ['(a|a?)+b', 'a'.repeat(100_000)],
  ];
  for (const [pattern, text] of hostile) it(`ends on ${pattern}`, () => assert.ok(custom(pattern, text).count <= 1));

  const refused: readonly (readonly [string, object, RegExp])[] = [
    ['look-around', { name: 'own', pattern: '(?<=a)b' }, /'own'.*RE2/],
    ['a back-reference', { name: 'own', pattern: '(a)\\1' }, /'own'.*RE2/],
    ['an open bracket', { name: 'own', pattern: '(' }, /'own'.*RE2/],
    ['repeats of repeats', { name: 'own', pattern: '((a{100}){100}){100}' }, /'own'.*RE2/],
    ['a pattern too large for the text', { name: 'own', pattern: '[a-z]{900}' }, /'own'.*at most/],
    ['a pattern without an expression', { name: 'own' }, /custom_patterns\[0\]/],
    ['a pattern without a name', { pattern: 'a' }, /custom_patterns\[0\]/],
    ['an endless expression', { name: 'own', pattern: 'a'.repeat(1001) }, /1000/],
  ];
  for (const [what, entry, message] of refused) {
    it(`refuses ${what}`, () => assert.throws(() => find('a'.repeat(50_000), { custom_patterns: [entry] }), { kind: 'invalid', message }));
  }

  it('refuses a name used twice, and takes one of a predefined pattern for its own', () => {
    const two = [
      { name: 'n', pattern: 'a' },
      { name: 'n', pattern: 'b' },
    ];
    assert.throws(() => find('a', { custom_patterns: two }), /'n' twice/);
    const own = find('a@b.org', { predefined_patterns: ['email'], custom_patterns: [{ name: 'email', pattern: 'a' }] });
    assert.deepEqual(own.email!.matches, ['a']);
    assert.deepEqual(Object.keys(find('x', { custom_patterns: [{ name: '__proto__', pattern: 'x' }] })), ['__proto__']);
  });
});

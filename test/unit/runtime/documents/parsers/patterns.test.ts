import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { matchesPattern } from '../../../../../runtime/documents/parsers/patterns.js';

const CASES: [path: string, pattern: string, expected: boolean][] = [
  ['a.pdf', '*.pdf', true],
  ['A.PDF', '*.pdf', true],
  ['docs/a.pdf', '*.pdf', true],
  ['docs/a.pdf', 'docs/*.pdf', true],
  ['docs/deep/a.pdf', 'docs/*.pdf', false],
  ['docs/deep/a.pdf', 'docs/**/*.pdf', true],
  ['docs/a.pdf', 'docs/**/*.pdf', true],
  ['a.pdfx', '*.pdf', false],
  ['a.md', '*.{txt,md}', true],
  ['a.rs', '*.{txt,md}', false],
  ['a1.txt', 'a?.txt', true],
  ['a.txt', 'a?.txt', false],
  ['text/plain', 'text/*', true],
  ['report', 'report', true],
  ['aXtxt', 'a.txt', false],
  ['a', '**', true],
];

describe('matches', () => {
  for (const [path, pattern, expected] of CASES) {
    it(`${path} ${expected ? 'is' : 'is not'} ${pattern}`, () => assert.equal(matchesPattern(path, pattern), expected));
  }

  it('ends soon for patterns of many stars', () => {
    assert.equal(matchesPattern('a'.repeat(1000), `**${'*a'.repeat(200)}b`), false);
  });
});

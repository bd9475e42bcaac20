import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import { describe, it } from 'node:test';
import { Generation, StopFinder, TextAssembler } from '../../../../../runtime/engines/language/generation.js';

/** Feeds bytes in pieces of `size`, as tokens that were cut there. */
function assembled(bytes: Uint8Array, size: number): string[] {
  const text = new TextAssembler();
  const out: string[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    const piece = bytes.subarray(at, at + size);
    out.push(text.add(isUtf8(piece) ? Buffer.from(piece).toString('utf8') : undefined, piece));
  }
  return out;
}

describe('text assembly', () => {
  const samples = ['plain words', 'Grüße, Köln', '👨‍👩‍👧 🇫🇷 你好', 'é\u{10FFFF}a\uFEFFb'];
  for (const sample of samples) {
    it(`restores ${JSON.stringify(sample)} whatever the cut, never with half characters`, () => {
      for (let size = 1; size <= 7; size += 1) {
        const parts = assembled(Buffer.from(sample), size);
        assert.equal(parts.join(''), sample);
        assert.ok(!parts.join('|').includes('\uFFFD'));
      }
    });
  }

  it('turns what is no UTF-8 into U+FFFD and goes on', () => {
    assert.equal(assembled(Buffer.from([0x61, 0xff, 0x62]), 1).join(''), 'a\uFFFDb');
  });

  const unfinished: [string, number[]][] = [
    ['one byte of two', [0xc3]],
    ['two bytes of three', [0xe4, 0xbd]],
    ['three bytes of an emoji', [0xf0, 0x9f, 0x91]],
    ['the second half of a flag', [0xf0, 0x9f, 0x87, 0xab, 0xf0, 0x9f]],
  ];
  for (const [name, bytes] of unfinished) {
    it(`leaves a character out that never ends: ${name}`, () => {
      for (let size = 1; size <= 4; size += 1) {
        const text = assembled(Buffer.from([0x61, ...bytes]), size).join('');
        assert.ok(text.startsWith('a') && !text.includes('\uFFFD'), JSON.stringify(text));
      }
    });
  }

  it('leaves it out of a whole generation, also behind the beginning of a stop string', () => {
    const generation = new Generation(['a!']);
    const piece = (bytes: number[]) => ({
      bytes: Uint8Array.from(bytes),
      text: isUtf8(Uint8Array.from(bytes)) ? Buffer.from(bytes).toString() : undefined,
    });
    const text = [generation.add(piece([0x62, 0x61])), generation.add(piece([0xf0, 0x9f])), generation.end()].join('');
    assert.equal(text, 'ba');
  });
});

describe('stop strings', () => {
  const run = (stops: string[], pieces: string[]): { out: string[]; stopped: boolean } => {
    const finder = new StopFinder(stops);
    const out = pieces.map((piece) => finder.add(piece));
    if (finder.found === undefined) out.push(finder.end());
    return { out, stopped: finder.found !== undefined };
  };
  const cases: [string, string[], string[], string, boolean][] = [
    ['passes text without stops', [], ['a', 'b'], 'ab', false],
    ['finds one inside a piece', ['END'], ['go END on'], 'go ', true],
    ['finds one across pieces', ['STOP'], ['a S', 'T', 'OP b'], 'a ', true],
    ['gives back what only began like one', ['STOP'], ['a ST', 'ART'], 'a START', false],
    ['gives back a beginning at the end', ['STOP'], ['a STO'], 'a STO', false],
    ['takes the earliest of several', ['late', 'ear'], ['an ear and late'], 'an ', true],
    ['finds one that overlaps a failed beginning', ['aab'], ['a', 'a', 'a', 'b'], 'a', true],
    ['ignores an empty stop', [''], ['a'], 'a', false],
    ['gives nothing when the text begins with it', ['\n'], ['\nmore'], '', true],
  ];
  for (const [name, stops, pieces, wanted, stopped] of cases) {
    it(name, () => {
      const result = run(stops, pieces);
      assert.deepEqual([result.out.join(''), result.stopped], [wanted, stopped]);
    });
  }

  it('never lets a stop string out, whatever the cut', () => {
    const text = 'xxabxxabcyy';
    for (let first = 0; first <= text.length; first += 1) {
      for (let second = first; second <= text.length; second += 1) {
        const { out } = run(['abc'], [text.slice(0, first), text.slice(first, second), text.slice(second)]);
        assert.equal(out.join(''), 'xxabxx');
      }
    }
  });
});

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { withLanguages } from '../../../../../../runtime/engines/ocr/tesseract/entry.js';
import { pageOfWords } from '../../../../../../runtime/engines/ocr/tesseract/readings.js';

const english = join(
  dirname(createRequire(import.meta.url).resolve('@tesseract.js-data/eng/package.json')),
  '4.0.0_best_int',
  'eng.traineddata.gz',
);
const content = gunzipSync(readFileSync(english));
const folder = mkdtempSync(join(tmpdir(), 'quern-trained-'));

/** The content with a number of its head changed. */
function changed(write: (copy: Buffer) => void): Buffer {
  const copy = Buffer.from(content.subarray(0, 4096));
  write(copy);
  return copy;
}

describe('language files', () => {
  it('lie in a folder while they are used, unpacked, and are gone afterwards', async () => {
    let place = '';
    await withLanguages([{ code: 'eng', path: english }], async (inner) => {
      place = inner;
      assert.deepEqual(readFileSync(join(inner, 'eng.traineddata')), content);
    });
    assert.ok(!existsSync(place));
  });

  const damaged: Record<string, Buffer> = {
    empty: Buffer.alloc(0),
    'a text': Buffer.from('no language at all'),
    'a damaged archive': gzipSync(content).subarray(0, 2000),
    'no entries': changed((copy) => copy.writeInt32LE(0, 0)),
    'a billion entries': changed((copy) => copy.writeInt32LE(1_000_000_000, 0)),
    'no network': changed((copy) => copy.writeBigInt64LE(-1n, 4 + 17 * 8)),
    'cut off': changed(() => {}),
  };
  for (const [name, bytes] of Object.entries(damaged)) {
    it(`are refused before the engine sees them: ${name}`, async () => {
      const path = join(folder, 'xyz.traineddata');
      writeFileSync(path, bytes);
      await assert.rejects(
        withLanguages([{ code: 'xyz', path }], () => Promise.resolve()),
        { kind: 'invalid', message: /xyz\.traineddata is no language file/ },
      );
    });
  }
});

describe('words of a page', () => {
  const word = (text: string, confidence: number) => ({ text, confidence, bbox: { x0: 1, y0: 2, x1: 3, y1: 4 } });
  const block = (...lines: ReturnType<typeof word>[][]) => ({ paragraphs: [{ lines: lines.map((words) => ({ words })) }] });

  it('make lines and blocks; those that are not believed are left out', () => {
    const blocks = [block([word('a', 90), word('b', 0)], [word('c', 70)]), block([word(' ', 90)]), block([word('d', 80)])];
    const page = pageOfWords({ blocks } as never);
    assert.equal(page.text, 'a\nc\n\nd');
    assert.deepEqual(
      page.boxes.map(({ confidence }) => confidence),
      [0.9, 0.7, 0.8],
    );
    assert.ok(Math.abs(page.confidence - 0.8) < 1e-9);
    assert.deepEqual(page.boxes[0], { x1: 1, y1: 2, x2: 3, y2: 4, text: 'a', confidence: 0.9 });
    assert.deepEqual(pageOfWords({ blocks: null } as never), { text: '', confidence: 0, boxes: [] });
  });
});

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { convertModel, melFilters } from '../../../../../runtime/engines/transcribing/convert.js';
import { convertedFile } from '../../../../../runtime/engines/transcribing/converted-cache.js';
import { fromFloats, toFloats } from '../../../../../runtime/engines/transcribing/ctranslate2.js';
import { repeatsItself } from '../../../../../runtime/engines/transcribing/whisper-entry.js';
import { Failure } from '../../../../../schemas/errors.js';
import { writePuppetWhisper } from '../../../../support/speech/puppet-whisper.js';

const { signal } = new AbortController();
const folder = mkdtempSync(join(tmpdir(), 'quern-convert-'));
const model = join(folder, 'model');
const binary = join(model, 'model.bin');
const target = join(folder, 'target.bin');
let whole: Buffer;

const refused = (pattern: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Failure, String(error));
  assert.equal(error.kind, 'invalid', error.message);
  assert.match(error.message, pattern);
  return true;
};

describe('the converter of CTranslate2 models', () => {
  before(() => {
    writePuppetWhisper(model, { words: [' One.'] });
    whole = readFileSync(binary);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('refuses a file that is cut off anywhere, or damaged, with the reason', async () => {
    for (const length of [0, 3, 4, 20, 60, 200, 5000, whole.length >> 1, whole.length - 2]) {
      writeFileSync(binary, whole.subarray(0, length));
      await assert.rejects(
        convertModel(model, target, signal),
        refused(/model\.bin is not a usable CTranslate2 model.*(?:ends|shorter)/),
        `${length} bytes`,
      );
    }
    const cases: [at: number, value: number, reason: RegExp][] = [
      [0, 7, /version is 7/],
      [4, 60_000, /length of its specification is 60000/],
      [22, 2 ** 31, /2147483648 variables/],
    ];
    for (const [at, value, reason] of cases) {
      const bytes = Buffer.from(whole);
      if (at === 4) bytes.writeUInt16LE(value, at);
      else bytes.writeUInt32LE(value, at);
      writeFileSync(binary, bytes);
      await assert.rejects(convertModel(model, target, signal), refused(reason));
    }
    writeFileSync(binary, whole);
  });

  it('refuses a vocabulary that is missing or not byte-level', async () => {
    const vocabulary = join(model, 'vocabulary.txt');
    const text = readFileSync(vocabulary, 'utf8');
    writeFileSync(vocabulary, text.slice(0, 1000));
    await assert.rejects(convertModel(model, target, signal), refused(/vocabulary\.txt or vocabulary\.json/));
    writeFileSync(vocabulary, text.replace('unused300', '\u4f60'));
    await assert.rejects(convertModel(model, target, signal), refused(/not byte-level/));
    writeFileSync(vocabulary, text);
  });

  it('keeps what it made, checks it each time, and makes it anew when it is damaged or the model has changed', async () => {
    const kept = join(folder, 'kept');
    const file = await convertedFile(model, kept, signal);
    const made = statSync(file).mtimeMs;
    assert.equal(await convertedFile(model, kept, signal), file);
    assert.equal(statSync(file).mtimeMs, made, 'nothing is made twice');
    const bytes = readFileSync(file);
    const damaged = Buffer.from(bytes);
    damaged[bytes.length >> 1]! ^= 1;
    writeFileSync(file, damaged);
    await convertedFile(model, kept, signal);
    assert.deepEqual(readFileSync(file), bytes);
    truncateSync(file, 100);
    await convertedFile(model, kept, signal);
    assert.equal(statSync(file).size, bytes.length);
    utimesSync(binary, new Date(), new Date(Date.now() + 5000));
    assert.notEqual(await convertedFile(model, kept, signal), file);
    rmSync(binary);
    writePuppetWhisper(join(folder, 'other'), { words: [' Two.'] });
    await convertedFile(join(folder, 'other'), kept, signal);
    assert.equal(readdirSync(kept).length, 2, 'what was made of a model that is gone goes too');
    writeFileSync(binary, whole);
  });

  it('stops when it is told to, and leaves nothing', async () => {
    const kept = join(folder, 'stopped');
    await assert.rejects(convertedFile(model, kept, AbortSignal.abort(new Error('enough'))), /enough/);
    assert.deepEqual(readdirSync(kept), []);
  });
});

describe('forms of numbers', () => {
  it('come back from 16 bits and from blocks of bytes as they were, within a step', () => {
    const values = Float32Array.from({ length: 64 }, (_none, at) => (at - 31.5) * 1.37e-3);
    const halves = toFloats(fromFloats(values, 'f16'), 'f16', 64);
    for (const [at, value] of values.entries()) assert.ok(Math.abs(halves[at]! - value) <= Math.abs(value) / 2048, `${value}`);
    const edges = Float32Array.of(0, -0, 65_504, 1e6, -1e6, 6e-8, 2 ** -14, 2 ** -15, Number.POSITIVE_INFINITY);
    assert.deepEqual(
      [...toFloats(fromFloats(edges, 'f16'), 'f16', 9)],
      [0, -0, 65_504, Infinity, -Infinity, 2 ** -24, 2 ** -14, 2 ** -15, Infinity],
    );
    assert.ok(Number.isNaN(toFloats(fromFloats(Float32Array.of(Number.NaN), 'f16'), 'f16', 1)[0]));
    const blocks = fromFloats(values, 'q8_0');
    assert.equal(blocks.length, 2 * 34);
    const scale = toFloats(blocks.subarray(0, 2), 'f16', 1)[0]!;
    for (let at = 0; at < 32; at += 1) assert.ok(Math.abs(blocks.readInt8(2 + at) * scale - values[at]!) <= scale * 0.6);
    assert.deepEqual([...toFloats(Buffer.from(Int8Array.of(-127, 64).buffer), 'i8', 2, Float32Array.of(2))], [-63.5, 32]);
    assert.deepEqual([...toFloats(Buffer.from(Uint16Array.of(0x3f80, 0xc000).buffer), 'bf16', 2)], [1, -2]);
  });

  it('has mel filters of area one, from 0 to 8 kHz', () => {
    for (const count of [80, 128]) {
      const filters = melFilters(count);
      assert.equal(filters.length, count * 201);
      const widest = filters.subarray((count - 1) * 201);
      const area = widest.reduce((sum, weight) => sum + weight * 40, 0);
      assert.ok(Math.abs(area - 1) < 0.02, `${area}`);
      assert.ok(filters.every((weight) => weight >= 0 && weight < 0.05));
    }
  });
});

describe('transcripts that repeat themselves', () => {
  it('are known, and ordinary ones are not', () => {
    const sentence = 'The weather is fine in the old town today. ';
    assert.equal(repeatsItself(sentence), false);
    assert.equal(repeatsItself(sentence.repeat(2)), true);
    assert.equal(repeatsItself(sentence.repeat(6)), true);
    assert.equal(repeatsItself('Please tell me. Please tell me. Please tell me.'), true);
    assert.equal(repeatsItself('It is late. Close the door. Close the door, and come.'), true);
    assert.equal(repeatsItself('No, no.'), false);
    assert.equal(repeatsItself(''), false);
    assert.equal(
      repeatsItself('One two three four five six seven eight nine ten, and then we begin again with the next line of the song.'),
      false,
    );
  });
});

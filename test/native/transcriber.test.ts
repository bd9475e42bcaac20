import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { NativeSegment, NativeTranscribeOptions, NativeTranscriber } from '../../native/contract.js';
import { backendFolders, loadInference } from '../../native/loader.js';
import { convertModel } from '../../runtime/engines/transcribing/convert.js';
import { Failure } from '../../schemas/errors.js';
import { writePuppetWhisper } from '../support/speech/puppet-whisper.js';
import { tone } from '../support/speech/sounds.js';

const folder = mkdtempSync(join(tmpdir(), 'quern-transcriber-'));
const { signal } = new AbortController();
const OPTIONS: NativeTranscribeOptions = { language: '', translate: false, prompt: '', temperature: 0, words: false, audioContext: 0 };

async function puppet(name: string, language?: 'de'): Promise<string> {
  const source = join(folder, name);
  writePuppetWhisper(source, { words: [' Hello', ' there,', ' puppet', '.'], seconds: 1.5, ...(language ? { language } : {}) });
  const file = join(folder, `${name}.bin`);
  await convertModel(source, file, signal);
  return file;
}

const failing = (kind: string, text: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Failure, String(error));
  assert.equal(error.kind, kind, error.message);
  assert.match(error.message, text);
  return true;
};

describe('the native transcriber', () => {
  let file = '';
  let model: NativeTranscriber;
  const heard = async (options: Partial<NativeTranscribeOptions> = {}, seconds = 2) => {
    const segments: NativeSegment[] = [];
    const language = await model.transcribe(tone(seconds), { ...OPTIONS, ...options }, (segment) => segments.push(segment));
    return { language, segments };
  };

  before(async () => {
    file = await puppet('english');
    loadInference().loadBackends(backendFolders());
    model = await loadInference().openTranscriber(file, { threads: 1, gpu: false });
  });
  after(async () => {
    await model.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('exports what the contract lists, and nothing else', () => {
    const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(model)).filter((name) => name !== 'constructor');
    assert.deepEqual(methods.sort(), ['close', 'stop', 'transcribe']);
    assert.deepEqual(Object.keys(model).sort(), ['audioLayers', 'multilingual', 'textLayers']);
  });

  it('tells segments as the model has them', async () => {
    const { language, segments } = await heard();
    assert.equal(language, 'en');
    assert.deepEqual(
      segments.map(({ start, end, text, words }) => ({ start, end, text, words })),
      [{ start: 0, end: 1.5, text: ' Hello there, puppet.', words: null }],
    );
  });

  it('tells words, whose punctuation is theirs', async () => {
    const { segments } = await heard({ words: true });
    assert.deepEqual(
      segments[0]!.words!.map(({ word }) => word),
      [' Hello', ' there,', ' puppet.'],
    );
  });

  it('gives words of audio of any length their times, which go on and stay within it', async () => {
    for (const seconds of [0.1, 0.11, 0.15, 0.16, 0.5, 30.15]) {
      const { segments } = await heard({ words: true }, seconds);
      let last = 0;
      for (const { words, ...segment } of segments) {
        assert.ok(words!.length > 0, `${seconds} s`);
        for (const { start, end } of words!) {
          assert.ok(start >= last && end >= start && end <= seconds + 1e-6, `${start} to ${end} of ${seconds} s, after ${last}`);
          last = end;
        }
        assert.deepEqual(segment, { ...segment, start: words![0]!.start, end: words!.at(-1)!.end });
      }
    }
  });

  it('hears nothing in no samples, and in a tenth of a second', async () => {
    assert.deepEqual((await heard({}, 0)).segments, []);
    assert.deepEqual((await heard({}, 0.05)).segments, []);
  });

  it('detects the language of a model for many', async () => {
    const many = await loadInference().openTranscriber(await puppet('german', 'de'), { threads: 1, gpu: false });
    assert.equal(many.multilingual, true);
    assert.equal(await many.transcribe(tone(1), OPTIONS, () => {}), 'de');
    assert.equal(await many.transcribe(tone(1), { ...OPTIONS, language: 'german' }, () => {}), 'de');
    await assert.rejects(
      many.transcribe(tone(1), { ...OPTIONS, language: 'xx' }, () => {}),
      failing('bad_request', /"xx"/),
    );
    await many.close();
  });

  it('refuses what it cannot take, naming it', async () => {
    await assert.rejects(heard({ language: 'de' }), failing('bad_request', /English only/));
    await assert.rejects(heard({ temperature: Number.NaN }), failing('invalid', /temperature/));
    await assert.rejects(heard({ temperature: 2 }), failing('invalid', /temperature is 2/));
    await assert.rejects(heard({ audioContext: 1501 }), failing('invalid', /audioContext is 1501/));
    const samples = [1, 2] as unknown as Float32Array;
    await assert.rejects(
      model.transcribe(samples, OPTIONS, () => {}),
      failing('invalid', /samples must be a Float32Array/),
    );
    await assert.rejects(loadInference().openTranscriber(file, { threads: 0, gpu: false }), failing('invalid', /threads is 0/));
    await assert.rejects(loadInference().openTranscriber(join(folder, 'none'), { threads: 1, gpu: false }), failing('not_found', /none/));
  });

  it('stops within a step, tells nothing afterwards, and hears again', async () => {
    const told: NativeSegment[] = [];
    const stopped = model.transcribe(tone(25), OPTIONS, (segment) => told.push(segment));
    model.stop();
    await assert.rejects(stopped, failing('unavailable', /stopped/));
    assert.deepEqual(told, []);
    assert.equal((await heard()).segments.length, 1);
  });

  it('takes samples that are no numbers for what they are: nothing to hear', async () => {
    const segments: NativeSegment[] = [];
    await model.transcribe(new Float32Array(16_000).fill(Number.NaN), OPTIONS, (segment) => segments.push(segment)).catch(() => {});
    assert.equal((await heard()).segments.length, 1);
  });

  it('refuses damaged files before the engine sees them, with the reason', async () => {
    const whole = readFileSync(file);
    const names = 11;
    const at = (index: number, value: number): Buffer => {
      const bytes = Buffer.from(whole);
      bytes.writeInt32LE(value, index * 4);
      return bytes;
    };
    const cases: [name: string, bytes: Buffer, reason: RegExp][] = [
      ['empty', Buffer.alloc(0), /ends at byte 0/],
      ['another magic', at(0, 1), /does not begin as a Whisper model/],
      ['half', whole.subarray(0, whole.length >> 1), /ends at byte/],
      ['one byte less', whole.subarray(0, -1), /ends at byte/],
      ['one byte more', Buffer.concat([whole, Buffer.alloc(1)]), /ends at byte/],
      ['vocabulary', at(1, 2 ** 31 - 1), /n_vocab is 2147483647/],
      ['audio context', at(2, -1), /n_audio_ctx is -1/],
      ['width', at(3, 0), /n_audio_state is 0/],
      ['heads', at(4, 63), /heads is 63/],
      ['layers', at(5, 1000), /n_audio_layer is 1000/],
      ['text width', at(7, 128), /n_text_state is 128/],
      ['mels', at(10, 81), /n_mels is 81/],
      ['type', at(names, 99), /ftype is 99/],
      ['filters', at(names + 1, 81), /mel filters is 81/],
      ['filter length', at(names + 2, 1 << 30), /mel filter is 1073741824/],
    ];
    for (const [name, bytes, reason] of cases) {
      const path = join(folder, 'damaged.bin');
      writeFileSync(path, bytes);
      await assert.rejects(loadInference().openTranscriber(path, { threads: 1, gpu: false }), failing('invalid', reason), name);
    }
  });

  it('says that it is closed', async () => {
    const other = await loadInference().openTranscriber(file, { threads: 1, gpu: false });
    await other.close();
    await assert.rejects(
      other.transcribe(tone(1), OPTIONS, () => {}),
      failing('unavailable', /closed/),
    );
    other.stop();
    await other.close();
  });
});

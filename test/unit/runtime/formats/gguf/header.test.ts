import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { f32, list, text, u32 } from '../../../../../models/writers/gguf-values.js';
import { ggufHeader } from '../../../../../runtime/formats/gguf/header.js';
import { Failure } from '../../../../../schemas/errors.js';
import { puppetPath } from '../../../../support/models/cache.js';
import { corruptFiles, soundFile } from '../../../../support/models/corrupt.js';

const FLIPS = 1500;

describe('GGUF header', () => {
  let folder = '';
  let written = 0;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'quern-header-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));
  const fileOf = (bytes: Buffer, name = `model-${written++}.gguf`): string => {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    return path;
  };
  const outcome = async (bytes: Buffer): Promise<Failure | null> => {
    const path = fileOf(bytes);
    try {
      await ggufHeader(path);
      return null;
    } catch (error) {
      assert.ok(error instanceof Failure, `threw ${String(error)}`);
      return error;
    } finally {
      rmSync(path);
    }
  };

  it('reads a sound file', async () => {
    const header = await ggufHeader(fileOf(soundFile()));
    assert.equal(header.architecture, 'llama');
    assert.ok(header.layers >= 1 && header.headsKvTotal >= 1 && header.keyLength >= 1 && header.contextLength >= 1);
    assert.ok(header.vocabulary.controlTexts.includes('<|im_end|>'));
    assert.match(header.template, /add_generation_prompt/);
    assert.equal(header.sizeBytes, soundFile().length);
  });

  it('reads the sampling that a file recommends, and says what of it cannot be used', async () => {
    assert.deepEqual((await ggufHeader(fileOf(soundFile()))).sampling, {});
    const recommended = soundFile([
      ['general.sampling.temp', f32(0.6)],
      ['general.sampling.top_k', { type: 'i32', value: -1 }],
      ['general.sampling.top_p', f32(0.95)],
      ['general.sampling.min_p', f32(0)],
      ['general.sampling.penalty_repeat', f32(1.05)],
      ['general.sampling.penalty_freq', f32(0.5)],
      ['general.sampling.penalty_present', f32(-0.5)],
      ['general.sampling.dry_multiplier', f32(1)],
      ['general.sampling.dry_base', f32(1.75)],
      ['general.sampling.dry_allowed_length', u32(4)],
      ['general.sampling.mirostat', u32(2)],
    ]);
    const { sampling, notes } = await ggufHeader(fileOf(recommended));
    const penalties = { repeat_penalty: 1.05, frequency_penalty: 0.5, presence_penalty: -0.5 };
    const dry = { dry_multiplier: 1, dry_base: 1.75, dry_allowed_length: 4 };
    assert.deepEqual([sampling, notes], [{ temperature: 0.6, top_k: 0, top_p: 0.95, min_p: 0, ...penalties, ...dry }, []]);
    const odd = soundFile([
      ['general.sampling.temp', f32(Number.NaN)],
      ['general.sampling.top_k', text('many')],
      ['general.sampling.top_p', f32(1.5)],
      ['general.sampling.penalty_repeat', f32(0)],
      ['general.sampling.penalty_freq', list('f32', [0.5])],
      ['general.sampling.dry_allowed_length', f32(2.5)],
    ]);
    const ignored = await ggufHeader(fileOf(odd));
    assert.deepEqual(ignored.sampling, {});
    const values = [
      'temp NaN;',
      'top_k many;',
      'top_p 1.5;',
      'penalty_repeat 0;',
      'penalty_freq as a list;',
      'dry_allowed_length 2.5; a whole number',
    ];
    for (const [at, value] of values.entries()) assert.ok(ignored.notes[at]?.includes(`general.sampling.${value}`), ignored.notes[at]);
  });

  it('reads the puppet', async () => {
    const header = await ggufHeader(puppetPath());
    assert.equal(header.name, 'puppet');
    assert.equal(header.contextLength, 8192);
  });

  for (const { name, names, bytes } of corruptFiles()) {
    it(`refuses: ${name}`, async () => {
      const failure = await outcome(bytes);
      assert.equal(failure?.status, 422, failure?.message);
      assert.ok(failure.message.includes(names), `"${failure.message}" names ${names}`);
      assert.equal(failure.errors?.length, 1);
    });
  }

  it('does not send for the same file again where it is of an unknown family', async () => {
    const { bytes } = corruptFiles().find(({ name }) => name === 'unknown architecture')!;
    const remedy = /"abacus"; the engine does not know this family\. A newer version may; until then, name a model of another family\.$/;
    assert.match((await outcome(bytes))?.message ?? '', remedy);
    assert.match((await outcome(Buffer.alloc(100)))?.message ?? '', /Get the file again from its source\.$/);
  });

  it(`throws nothing but Failure for ${FLIPS} random changes of bytes`, async () => {
    const sound = soundFile();
    const headerBytes = 20_000;
    let state = 12345;
    const random = (below: number): number => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      return state % below;
    };
    for (let round = 0; round < FLIPS; round += 1) {
      const bytes = Buffer.from(sound);
      for (let change = 0; change <= round % 3; change += 1)
        bytes[random(round % 2 === 0 ? 600 : Math.min(headerBytes, bytes.length))] = random(256);
      await outcome(bytes);
    }
  });

  it('sees that a file has changed', async () => {
    const path = fileOf(soundFile(), 'changing.gguf');
    await ggufHeader(path);
    writeFileSync(path, Buffer.alloc(100));
    await assert.rejects(ggufHeader(path), { kind: 'invalid' });
    writeFileSync(path, soundFile());
    await ggufHeader(path);
  });

  it('tells what is no file or not there', async () => {
    await assert.rejects(ggufHeader(join(folder, 'absent.gguf')), { kind: 'not_found', code: 'ModelNotFound' });
    await assert.rejects(ggufHeader(folder), { kind: 'invalid', message: /not a regular file/ });
  });
});

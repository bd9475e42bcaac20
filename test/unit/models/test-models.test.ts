import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { ensureGguf } from '../../../models/writers/gguf-writer.js';
import { tinyPath } from '../../support/models/cache.js';
import { corruptFiles, soundFile } from '../../support/models/corrupt.js';
import { RANDOM_MODELS, randomLlama, syntheticVocabulary } from '../../support/models/random-llama.js';
import { readGguf } from '../../support/models/read-gguf.js';

const folder = mkdtempSync(join(tmpdir(), 'quern-models-'));
after(() => rmSync(folder, { recursive: true }));

test('the tiny model is small, complete and cannot end its turn early', () => {
  assert.ok(statSync(tinyPath()).size < 1_000_000);
  const { tensors, metadata } = readGguf(tinyPath());
  const embedding = tensors.get('token_embd.weight')!;
  const end = Number(metadata.get('tokenizer.ggml.eos_token_id'));
  assert.ok(embedding.values.subarray(end * 64, (end + 1) * 64).every((value) => value === 0));
  assert.ok(embedding.values.subarray(97 * 64, 98 * 64).some((value) => value !== 0));
  assert.equal(tensors.size, 2 + 2 * 9);
});

test('bench54m has 54 million parameters and its vocabulary is reachable by merges', () => {
  const { tensors } = randomLlama(RANDOM_MODELS.bench54m);
  const parameters = tensors.reduce((sum, { shape }) => sum + shape.reduce((product, size) => product * size, 1), 0);
  assert.ok(parameters > 53.5e6 && parameters < 54.5e6, String(parameters));
  const { tokens, merges } = syntheticVocabulary(32_000);
  assert.equal(new Set(tokens.map(({ text }) => text)).size, 32_000);
  assert.equal(merges.length, 32_000 - 256 - 2);
  assert.throws(() => syntheticVocabulary(10_000_000), /not possible/);
});

test('a generated file is written once, again when its code is newer, and whole when several processes write it', async () => {
  const path = join(folder, 'shared.gguf');
  const code = mkdtempSync(join(folder, 'code-'));
  writeFileSync(join(code, 'a.js'), '');
  const at = (seconds: number): void => utimesSync(join(code, 'a.js'), seconds, seconds);
  at(1);
  const url = (name: string): string => pathToFileURL(join(import.meta.dirname, '..', '..', '..', name)).href;
  const script =
    `const { ensureGguf } = await import('${url('models/writers/gguf-writer.js')}');` +
    `const { randomLlama, RANDOM_MODELS } = await import('${url('test/support/models/random-llama.js')}');` +
    `ensureGguf(${JSON.stringify(path)}, [${JSON.stringify(code)}], () => randomLlama(RANDOM_MODELS.tiny));`;
  const runs = Array.from({ length: 4 }, () => spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' }));
  assert.deepEqual(await Promise.all(runs.map(async (run) => (await once(run, 'exit'))[0])), [0, 0, 0, 0]);
  assert.deepEqual(readFileSync(path), readFileSync(tinyPath()));
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.endsWith('.part')),
    [],
  );
  const make = (): ReturnType<typeof randomLlama> => randomLlama(RANDOM_MODELS.tiny);
  assert.equal(ensureGguf(path, [code], make), false);
  at(Date.now() / 1000 + 100);
  assert.equal(ensureGguf(path, [code], make), true);
});

test('damaged files differ from the sound one and from each other', () => {
  const files = corruptFiles();
  assert.equal(new Set(files.map(({ name }) => name)).size, files.length);
  assert.equal(new Set(files.map(({ bytes }) => bytes.toString('latin1'))).size, files.length);
  const sound = soundFile();
  assert.ok(files.every(({ bytes }) => !bytes.equals(sound)));
  writeFileSync(join(folder, 'sound.gguf'), sound);
  assert.equal(readGguf(join(folder, 'sound.gguf')).tensors.size, 20);
});

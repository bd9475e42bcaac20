import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { loadCore } from '../../native/loader.js';
import { convertModel } from '../../runtime/engines/transcribing/convert.js';
import { Failure, STATUS_OF_KIND } from '../../schemas/errors.js';
import { tinyPath } from '../support/models/cache.js';
import { writeGgufEncoder } from '../support/models/tiny-encoders.js';
import { writePuppetWhisper } from '../support/speech/puppet-whisper.js';
import { checkFailures, type Files } from './failing-calls.js';

const NATIVE = join(import.meta.dirname, '../../../native');

describe('failures of native code', () => {
  const folder = mkdtempSync(join(tmpdir(), 'quern-failures-'));
  const files: Files = {
    language: tinyPath(),
    embedder: join(folder, 'embedder.gguf'),
    transcriber: join(folder, 'transcriber.bin'),
    missing: join(folder, 'missing'),
  };
  before(async () => {
    writeGgufEncoder(files.embedder, { pooling: 'mean' });
    const source = join(folder, 'transcriber');
    writePuppetWhisper(source, { words: [' Hello'], seconds: 1 });
    await convertModel(source, files.transcriber, new AbortController().signal);
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('are of the class Failure, from every method of the contract', async () => {
    assert.ok((await checkFailures(files)) > 80);
  });

  it('are so in a worker thread, and in the main thread when that has ended', async () => {
    const source = `
      import { parentPort, workerData } from 'node:worker_threads';
      const { checkFailures } = await import(workerData.module);
      parentPort.postMessage(await checkFailures(workerData.files));`;
    const workerData = { module: new URL('./failing-calls.js', import.meta.url).href, files };
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), { workerData });
    const [[count]] = await Promise.all([once(worker, 'message'), once(worker, 'exit')]);
    assert.ok(count > 80);
    assert.throws(() => loadCore().openColumns({ capacity: 0 }), Failure);
  });

  it('have kinds that the schemas know', () => {
    const sources = readdirSync(NATIVE, { recursive: true, encoding: 'utf8' }).filter((name) => /\.[ch]pp$/.test(name));
    const kinds = sources.flatMap((name) =>
      [...readFileSync(join(NATIVE, name), 'utf8').matchAll(/\b(?:Failure|emplace|to_error)\((?:\w+, |info\.Env\(\), )?"(\w+)",/g)].map(
        ([, kind]) => kind!,
      ),
    );
    assert.ok(kinds.length > 100);
    assert.deepEqual(
      [...new Set(kinds)].filter((kind) => !Object.hasOwn(STATUS_OF_KIND, kind)),
      [],
    );
  });
});

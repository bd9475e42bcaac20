import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { LoadedEngine } from '../../../../../runtime/engines/contracts/loaded.js';
import { encoderKey } from '../../../../../runtime/models/residency/key.js';
import { Models, type ModelsParts } from '../../../../../runtime/models/residency/models.js';
import { Failure } from '../../../../../schemas/errors.js';
import { until } from '../../../../support/until.js';

const never = new AbortController().signal;
const dataDir = mkdtempSync(join(tmpdir(), 'models-'));

/** Memory that engines take from and give back. */
class Machine {
  free = 1000;
  readonly open = new Set<string>();

  engine(name: string, sizeBytes: number): LoadedEngine {
    this.free -= sizeBytes;
    this.open.add(name);
    return {
      pid: 7,
      status: { devices: { requested: 'auto', available: ['cpu'], used: ['cpu'], why: null }, notes: ['small'] },
      close: async () => {
        if (this.open.delete(name)) this.free += sizeBytes;
      },
    };
  }
}

function makeModels(more: Partial<ModelsParts> = {}) {
  const machine = new Machine();
  const models = new Models({ dataDir, availableMemory: () => machine.free, ...more });
  const hold = (name: string, type: string, sizeBytes: number) =>
    models.hold({ key: `${type}:${name}`, type, name, sizeBytes, load: async () => machine.engine(name, sizeBytes) }, never);
  return { machine, models, hold };
}

describe('models of any kind', () => {
  after(() => rmSync(dataDir, { recursive: true }));

  it('lists what is loaded with its kind, devices and uses', async () => {
    const { models, hold } = makeModels();
    const [held] = await Promise.all([hold('a', 'encoder_ner', 10), hold('a', 'encoder_ner', 10)]);
    held.release();
    const [shown, ...others] = models.loaded();
    assert.deepEqual(others, []);
    assert.deepEqual([shown?.key, shown?.type, shown?.name, shown?.uses, shown?.pid], ['encoder_ner:a', 'encoder_ner', 'a', 1, 7]);
    assert.deepEqual([shown?.status.devices.used, shown?.status.notes], [['cpu'], ['small']]);
    await models.close();
  });

  it('tells the keys of what is loaded and of what is loading', async () => {
    const { models, hold } = makeModels();
    await hold('a', 'encoder_ner', 10);
    const load = async (_circuit: unknown, stop: AbortSignal) => Promise.reject(await once(stop, 'abort'));
    const coming = models.hold({ key: 'language:b', type: 'language', name: 'b', sizeBytes: 10, load }, never);
    coming.catch(() => {});
    assert.deepEqual(models.keys(), ['encoder_ner:a', 'language:b']);
    await models.close();
    assert.deepEqual(models.keys(), []);
  });

  it('makes room over all kinds, the one that waits longest first, and never takes what is in use', async () => {
    const { machine, models, hold } = makeModels();
    const used = await hold('used', 'language', 300);
    (await hold('old', 'ocr_tesseract', 200)).release();
    (await hold('young', 'encoder_embedding', 100)).release();
    await hold('needs', 'diffusion', 400);
    assert.deepEqual([...machine.open], ['used', 'young', 'needs']);
    await hold('more', 'speech', 200);
    assert.deepEqual([...machine.open], ['used', 'needs', 'more'], 'nothing that is in use went');
    used.release();
    await models.close();
    assert.deepEqual([...machine.open], []);
  });

  it('does not let two loads count on the same memory', async () => {
    const { machine, models, hold } = makeModels();
    (await hold('idle', 'language', 300)).release();
    // 700 are free: either alone fits beside the idle model, both together do not.
    await Promise.all([hold('x', 'tts', 400), hold('y', 'tts', 400)]);
    assert.deepEqual([...machine.open].sort(), ['x', 'y']);
    await models.close();
  });

  it('holds back a key whose loads crash, and no other', async () => {
    const { models, hold } = makeModels();
    const crash = () =>
      models.hold(
        {
          ...{ key: 'speech:bad', type: 'speech', name: 'bad', sizeBytes: 1 },
          load: async (circuit) => {
            circuit.failed('exited with code 70');
            throw new Failure('unavailable', 'crashed');
          },
        },
        never,
      );
    for (let time = 0; time < 3; time += 1) await assert.rejects(crash(), /crashed/);
    await assert.rejects(crash(), { kind: 'unavailable', code: 'circuit_open', message: /Model bad failed 3 times.*exited with code 70/ });
    await hold('good', 'speech', 1);
    await models.close();
  });

  it('unloads idle ones of every kind', async () => {
    const { machine, models, hold } = makeModels({ limits: { unloadAfterMs: 1, checkEveryMs: 5, maxLoaded: 9 } });
    (await hold('a', 'language', 1)).release();
    await hold('b', 'diffusion', 1);
    await until(() => !machine.open.has('a'), 'the idle one is unloaded');
    assert.deepEqual([...machine.open], ['b']);
    await models.close();
  });
});

describe('the key of an encoder', () => {
  it('tells task, format, name and quantisation, and what else makes another copy', () => {
    const named = { format: 'onnx' as const, id: 'org/repo', quantisation: 'INT8' };
    assert.equal(encoderKey('embedding', named), 'encoder:embedding:transformers:org/repo:quantINT8:lenauto');
    const other = { format: 'onnx' as const, id: 'x', quantisation: null };
    assert.equal(encoderKey('ner', other, { device: 'cpu' }), 'encoder:ner:transformers:x:quantdefault:lenauto:devicecpu');
    assert.equal(encoderKey('ner', other, { device: 'auto', flashAttention: false }), 'encoder:ner:transformers:x:quantdefault:lenauto');
    assert.equal(
      encoderKey('embedding', { ...other, format: 'gguf' }, { flashAttention: false }),
      'encoder:embedding:gguf:x:quantdefault:lenauto:flashfalse',
    );
  });
});

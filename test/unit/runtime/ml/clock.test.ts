import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import type { EncoderService } from '../../../../runtime/encoders/contract.js';
import { AnomalyDetectors } from '../../../../runtime/ml/anomaly/detectors.js';
import { Classifiers } from '../../../../runtime/ml/classifiers/classifiers.js';
import { VersionNames } from '../../../../runtime/ml/model-names.js';
import { emptyDataDir } from '../../../support/daemon.js';

const NOON = Date.UTC(2026, 2, 29, 12);
const HOUR_MS = 3_600_000;
const { signal } = new AbortController();

/** What is saved under names with times. */
interface Saved {
  /** Fits and saves a model; the name that it got. */
  fit(overwrite?: boolean, model?: string): Promise<string>;
  /** What a name stands for. */
  means(name: string): Promise<string>;
  /** Newest first. */
  names(): Promise<string[]>;
}

function anomaly(folder: string): Saved {
  const service = new AnomalyDetectors(folder);
  const backend = 'hbos';
  return {
    fit: async (overwrite = false, model = 'm') => {
      const settings = { normalization: 'raw', contamination: 0.1, epochs: 1, batchSize: 1 } as const;
      return (await service.fit({ model, backend, data: [[1], [2], [3]], overwrite, ...settings }, signal)).model;
    },
    means: async (model) => (await service.load({ model, backend })).model,
    names: async () => (await service.list()).models.map(({ name }) => name),
  };
}

/** Embeds by the first letter. */
const encoders = {
  embed: async (_ask: unknown, texts: readonly string[]) => ({
    vectors: texts.map((text) => Float32Array.of(1, text < 'm' ? 1 : -1)),
    tokens: 0,
  }),
} as unknown as EncoderService;

function classifiers(folder: string): Saved {
  const service = new Classifiers(folder, encoders);
  const examples = ['a', 'b', 'x', 'y'].map((text) => ({ text, label: text < 'm' ? 'low' : 'high' }));
  return {
    fit: async (overwrite = false, model = 'm') => {
      const settings = { baseModel: 'any', iterations: 1, batchSize: 1, seed: 1 };
      return (await service.fit({ model, examples, overwrite, ...settings }, signal)).model;
    },
    means: async (model) => (await service.load(model)).model,
    names: async () => (await service.list()).models.map(({ model }) => model),
  };
}

for (const [what, open] of Object.entries({ anomaly, classifiers }))
  describe(`clock steps and saved models: ${what}`, () => {
    let folder: string;
    let saved: Saved;
    beforeEach(() => {
      folder = emptyDataDir();
      saved = open(join(folder, 'models'));
      mock.timers.enable({ apis: ['Date'], now: NOON });
    });
    afterEach(() => {
      mock.timers.reset();
      rmSync(folder, { recursive: true, force: true });
    });

    /** Saves at each time, which overwrites nothing, and looks what is the newest, in this process and after a restart. */
    const saveAt = async (times: readonly number[]): Promise<string[]> => {
      const names: string[] = [];
      for (const time of times) {
        mock.timers.setTime(time);
        const name = await saved.fit();
        assert.ok(!names.includes(name), `${name} was overwritten`);
        names.push(name);
        assert.equal(await saved.means('m-latest'), name);
        assert.equal(await open(join(folder, 'models')).means('m-latest'), name);
      }
      assert.deepEqual(await saved.names(), names.toReversed());
      return names;
    };

    it('saves of one second get names of their own, the last of which is the newest', async () => {
      assert.deepEqual(await saveAt([NOON, NOON, NOON + 999, NOON + 1000]), [
        'm_20260329_120000',
        'm_20260329_120001',
        'm_20260329_120002',
        'm_20260329_120003',
      ]);
    });

    it('saves after the clock was set back are newer than those before', async () => {
      const names = await saveAt([NOON, NOON - 24 * HOUR_MS, NOON - 24 * HOUR_MS, NOON - 23 * HOUR_MS, NOON + 60_000]);
      assert.equal(names.at(-1), 'm_20260329_120100');
    });

    it('saves after a clock that ran years ahead was put right are newer, too', async () => {
      await saveAt([NOON, NOON + 70 * 365 * 24 * HOUR_MS, NOON + 1000, NOON + 2000]);
    });

    it('a model under its own name takes its place among the versions, however the clock is set', async () => {
      const version = await saved.fit();
      mock.timers.setTime(NOON - HOUR_MS);
      assert.equal(await saved.fit(true), 'm');
      assert.equal(await saved.means('m-latest'), 'm');
      const next = await saved.fit();
      assert.equal(await saved.means('m-latest'), next);
      assert.deepEqual(await saved.names(), [next, 'm', version]);
    });

    it('a model whose own name looks like a version has newer and newer versions, too', async () => {
      const model = 'm_20260101_000000';
      const first = await saved.fit(false, model);
      mock.timers.setTime(NOON - HOUR_MS);
      const second = await saved.fit(false, model);
      assert.equal(await saved.means(`${model}-latest`), second);
      assert.deepEqual(await saved.names(), [second, first]);
      const base = await saved.fit(true, model);
      assert.deepEqual(await saved.names(), [base, second, first]);
    });

    it('names go on in UTC where summer time ends', async () => {
      const zone = process.env.TZ;
      process.env.TZ = 'Europe/Berlin';
      try {
        const end = Date.UTC(2026, 9, 25, 1);
        assert.equal(new Date(end - 1).getHours(), new Date(end + HOUR_MS - 1).getHours());
        assert.deepEqual(await saveAt([end - 1000, end + HOUR_MS - 1000]), ['m_20261025_005959', 'm_20261025_015959']);
      } finally {
        if (zone === undefined) delete process.env.TZ;
        else process.env.TZ = zone;
      }
    });
  });

describe('names of versions that are made elsewhere', () => {
  beforeEach(() => mock.timers.enable({ apis: ['Date'], now: NOON - HOUR_MS }));
  afterEach(() => mock.timers.reset());
  const there = [{ name: 'm_20260329_120000', modifiedMs: NOON }];

  it('differ for two at once, whatever the clock says', async () => {
    const versions = new VersionNames();
    const runs = [1, 2, 3].map(() =>
      versions.with(
        'm',
        async () => there,
        async (name) => name,
      ),
    );
    assert.deepEqual(await Promise.all(runs), ['m_20260329_120001', 'm_20260329_120002', 'm_20260329_120003']);
  });

  it('differ where the list of a run comes after another run has ended', async () => {
    const versions = new VersionNames();
    const make = async (name: string) => name;
    const fast = versions.with('m', async () => there, make);
    const slow = versions.with('m', () => fast.then(() => there), make);
    assert.deepEqual(await Promise.all([fast, slow]), ['m_20260329_120001', 'm_20260329_120002']);
  });

  it('are free again after runs that all failed', async () => {
    const versions = new VersionNames();
    const fail = async () => {
      throw new Error('no');
    };
    await assert.rejects(versions.with('m', fail, fail), /no/);
    await assert.rejects(
      versions.with('m', async () => there, fail),
      /no/,
    );
    assert.equal(
      await versions.with(
        'm',
        async () => there,
        async (name) => name,
      ),
      'm_20260329_120001',
    );
  });
});

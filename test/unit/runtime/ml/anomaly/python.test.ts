import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { loadCore } from '../../../../../native/loader.js';
import type { AnomalyBackend } from '../../../../../runtime/ml/anomaly/backends.js';
import { AnomalyDetectors } from '../../../../../runtime/ml/anomaly/detectors.js';
import { fitAnomaly } from '../../../../support/anomaly/fit.js';

const ROWS = Array.from({ length: 60 }, (_none, i) => [Math.sin(i * 12.9898), Math.cos(i * 78.233), (i % 7) * 0.1]);
const FIT = { contamination: 0.2, normalization: 'zscore', epochs: 3, batchSize: 16 } as const;

/** Opens each file with plain pickle.load and prints what it holds, arrays as lists of numbers. */
const OPEN = `
import json, pickle, struct, sys
def plain(value):
    if type(value) is dict:
        assert sorted(value) == ['data', 'dtype', 'shape'] and type(value['data']) is bytes
        count, = value['shape']
        return {'dtype': value['dtype'], 'values': struct.unpack('<%d%s' % (count, {'<f8': 'd', '<i4': 'i'}[value['dtype']]), value['data'])}
    assert type(value) in (int, float, str)
    return value
found = {}
for path in sys.argv[1:]:
    with open(path, 'rb') as file: model = pickle.load(file)
    model['state'] = {key: plain(value) for key, value in model['state'].items()}
    found[model['backend']] = model
json.dump(found, sys.stdout, allow_nan=False)
`;

/** What Python should have read of a native state. */
const expected = (value: number | string | Float64Array | Int32Array): unknown =>
  typeof value === 'object' ? { dtype: value instanceof Float64Array ? '<f8' : '<i4', values: [...value] } : value;

describe('anomaly files and Python', () => {
  let folder: string;
  let detectors: AnomalyDetectors;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'quern-python-'));
    detectors = new AnomalyDetectors(folder);
  });
  after(async () => {
    await detectors.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("opens the file of every detector with Python's own reader, number for number", async (t) => {
    const backends = loadCore().anomalyBackends() as AnomalyBackend[];
    assert.equal(backends.length, 12);
    for (const backend of backends)
      await detectors.fit({ model: 'py', backend, data: ROWS, overwrite: true, ...FIT }, new AbortController().signal);
    const paths = backends.map((backend) => join(folder, `py_${backend}.pkl`));
    const { status, stdout, stderr, error } = spawnSync('python3', ['-I', '-c', OPEN, ...paths], { maxBuffer: 2 ** 26, timeout: 60_000 });
    if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return t.skip('there is no python3');
    assert.equal(status, 0, stderr.toString());
    const read = JSON.parse(stdout.toString()) as Record<string, { state: Record<string, unknown> }>;
    for (const backend of backends) {
      const { state, ...facts } = read[backend]!;
      assert.deepEqual(
        facts,
        { format: 'quern-anomaly', version: 1, name: 'py', backend, samples: 60, contamination: 0.2, encoder: null },
        backend,
      );
      // The same fit, which never was in a file.
      const { model } = await fitAnomaly({ backend, columns: 3, scaled: true, threads: 1, ...FIT }, Float64Array.from(ROWS.flat()));
      const own = Object.fromEntries(Object.entries(await model.state()).map(([key, value]) => [key, expected(value)]));
      assert.deepEqual(state, own, backend);
    }
  });
});

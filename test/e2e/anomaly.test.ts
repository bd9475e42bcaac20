import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DaemonUnderTest, startDaemon } from '../support/daemon.js';
import { until } from '../support/until.js';

const WAIT_MS = 240_000;
const ROWS = Array.from({ length: 300 }, (_none, i) => [Math.sin(i * 12.9898) * 2, 10 + Math.cos(i * 78.233), (i * i) % 17]);
const PROBE = [...ROWS.slice(0, 20), [50, -40, 99]];
/** Minutes of work, if nobody ends it. */
const LONG = {
  backend: 'autoencoder',
  epochs: 1000,
  data: Array.from({ length: 10_000 }, (_none, i) => [Math.sin(i), Math.cos(i * 3), i % 7, i % 11]),
};

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Body = any;

async function post(
  url: string,
  body: object,
  signal: AbortSignal = AbortSignal.timeout(WAIT_MS),
): Promise<{ status: number; body: Body }> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal });
  return { status: answer.status, body: await answer.json() };
}

async function ok(url: string, body: object): Promise<Body> {
  const answer = await post(url, body);
  assert.equal(answer.status, 200, JSON.stringify(answer.body).slice(0, 500));
  return answer.body;
}

const shelf = (daemon: DaemonUnderTest): string => join(daemon.dataDir, 'models', 'anomaly');
const files = (daemon: DaemonUnderTest): string[] => (existsSync(shelf(daemon)) ? readdirSync(shelf(daemon)).sort() : []);

describe('anomaly detection in a daemon', () => {
  let daemon: DaemonUnderTest;
  const restart = async (signal: NodeJS.Signals): Promise<void> => {
    await daemon.end(signal);
    daemon = await startDaemon({ dataDir: daemon.dataDir });
  };
  before(async () => {
    daemon = await startDaemon();
  });
  after(async () => {
    await daemon.end('SIGKILL');
    rmSync(daemon.dataDir, { recursive: true, force: true });
  });

  it('scores to the bit as before after a restart, on both ports, without being told to load', async () => {
    await ok(`${daemon.core}/v1/ml/anomaly/fit`, { model: 'kept', backend: 'isolation_forest', data: ROWS });
    const ask = { model: 'kept-latest', backend: 'isolation_forest', data: PROBE };
    const first = await ok(`${daemon.core}/v1/ml/anomaly/score`, ask);
    assert.ok(first.data[20].is_anomaly);
    await restart('SIGTERM');
    assert.deepEqual(await ok(`${daemon.core}/v1/ml/anomaly/score`, ask), first);
    assert.deepEqual(await ok(`${daemon.runtime}/v1/anomaly/score`, ask), first);
  });

  it('writes a file that Python opens', async (t) => {
    await ok(`${daemon.runtime}/v1/anomaly/fit`, {
      model: 'py',
      backend: 'ecod',
      data: ROWS.map(([a, b]) => ({ a, b })),
      schema: { a: 'numeric', b: 'label' },
      overwrite: true,
    });
    const code = `
import pickle, struct, sys
with open(sys.argv[1], 'rb') as f: d = pickle.load(f)
assert d['format'] == 'quern-anomaly' and d['version'] == 1
assert (d['name'], d['backend'], d['samples'], d['contamination']) == ('py', 'ecod', 300, 0.1)
assert d['encoder']['schema'] == {'a': 'numeric', 'b': 'label'} and len(d['encoder']['encoders']['b']['labels']) > 200
arrays = {k: v for k, v in d['state'].items() if isinstance(v, dict)}
for v in arrays.values():
    n, = v['shape']
    assert len(struct.unpack('<%d%s' % (n, {'<f8': 'd', '<i4': 'i'}[v['dtype']]), v['data'])) == n
print(sum(v['shape'][0] for v in arrays.values()))
`;
    const { status, stdout, stderr, error } = spawnSync('python3', ['-I', '-c', code, join(shelf(daemon), 'py_ecod.pkl')]);
    if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return t.skip('there is no python3');
    assert.equal(status, 0, stderr.toString());
    assert.ok(Number(stdout) >= 600, stdout.toString());
  });

  it('ends a fit whose client is gone, and lets the next one in', async () => {
    const gone = new AbortController();
    const lost = Array.from({ length: 2 }, (_none, i) =>
      post(`${daemon.runtime}/v1/anomaly/fit`, { ...LONG, model: `lost${i}` }, gone.signal).catch(() => 'gone'),
    );
    // Long enough for both to have begun; were they not ended, the next ones would wait for minutes.
    await sleep(1500);
    gone.abort();
    assert.deepEqual(await Promise.all(lost), ['gone', 'gone']);
    const next = { model: 'next', backend: 'hbos', data: ROWS, overwrite: true };
    await Promise.all([ok(`${daemon.runtime}/v1/anomaly/fit`, next), ok(`${daemon.runtime}/v1/anomaly/fit`, { ...next, model: 'other' })]);
    assert.deepEqual(
      files(daemon).filter((name) => name.startsWith('lost')),
      [],
    );
  });

  it('refuses fits when too many wait, and nobody else', async () => {
    const gone = new AbortController();
    const fit = (i: number): Promise<unknown> =>
      post(`${daemon.core}/v1/ml/anomaly/fit`, { ...LONG, model: `many${i}` }, gone.signal).catch(() => 'gone');
    const many = Array.from({ length: 12 }, (_none, i) => fit(i));
    const refused = (await Promise.race(many)) as { status: number; body: Body };
    assert.equal(refused.status, 503);
    assert.match(refused.body.detail, /Too many fits: 2 are running and 6 wait/);
    await ok(`${daemon.core}/v1/ml/anomaly/score`, { model: 'kept', backend: 'isolation_forest', data: PROBE });
    gone.abort();
    await Promise.all(many);
  });

  it('keeps the old model when it is killed during a fit', async () => {
    const ask = { model: 'next', backend: 'hbos', data: PROBE };
    const first = await ok(`${daemon.runtime}/v1/anomaly/score`, ask);
    const names = files(daemon);
    const lost = post(`${daemon.runtime}/v1/anomaly/fit`, { ...LONG, model: 'next', overwrite: true }).catch(() => 'gone');
    await sleep(300);
    await restart('SIGKILL');
    assert.equal(await lost, 'gone');
    assert.deepEqual(files(daemon), names);
    assert.deepEqual(await ok(`${daemon.runtime}/v1/anomaly/score`, ask), first);
  });

  it('has the old or the new model when it is killed during a save, and clears up', async () => {
    const fit = (columns: number): Promise<Body> =>
      ok(`${daemon.runtime}/v1/anomaly/fit`, {
        model: 'torn',
        backend: 'isolation_forest',
        data: ROWS.map((row) => row.slice(0, columns)),
        overwrite: true,
      });
    await fit(2);
    for (const afterMs of [0, 10]) {
      let killed = false;
      const fits = (async () => {
        for (let columns = 2; !killed; columns = 5 - columns) await fit(columns).catch(() => undefined);
      })();
      await sleep(150 + afterMs);
      killed = true;
      await Promise.all([restart('SIGKILL'), fits]);
      const { body, status } = await post(`${daemon.runtime}/v1/anomaly/load`, { model: 'torn', backend: 'isolation_forest' });
      assert.equal(status, 200, JSON.stringify(body));
      const scored = await Promise.all(
        [2, 3].map((width) =>
          post(`${daemon.runtime}/v1/anomaly/score`, {
            model: 'torn',
            backend: 'isolation_forest',
            data: ROWS.map((row) => row.slice(0, width)),
          }),
        ),
      );
      assert.deepEqual(scored.map(({ status: one }) => one).sort(), [200, 400]);
    }
    writeFileSync(join(shelf(daemon), '.torn_isolation_forest.pkl.0123456789ab.tmp'), 'half');
    await restart('SIGKILL');
    await fit(2);
    assert.deepEqual(
      files(daemon).filter((name) => name.startsWith('.')),
      [],
    );
  });

  it('lists what it cannot read and deletes it', async () => {
    mkdirSync(shelf(daemon), { recursive: true });
    writeFileSync(join(shelf(daemon), 'foreign.pkl'), 'not ours');
    const list = (await (await fetch(`${daemon.core}/v1/ml/anomaly/models`)).json()) as Body;
    assert.equal(list.data.find((one: Body) => one.filename === 'foreign.pkl').backend, 'unknown');
    const deleted = await fetch(`${daemon.core}/v1/ml/anomaly/models/foreign.pkl`, { method: 'DELETE' });
    assert.deepEqual(await deleted.json(), { object: 'delete_result', filename: 'foreign.pkl', deleted: true });
  });

  it("works on the detectors of a remote runtime through the core's port", async () => {
    const other = await startDaemon({ args: ['--runtime-url', daemon.runtime] });
    try {
      const at = (verb: string): string => `${other.core}/v1/ml/anomaly/${verb}`;
      const fitted = await ok(at('fit'), { model: 'far', backend: 'ecod', data: ROWS, description: 'Far away' });
      assert.match(fitted.model, /^far_\d{8}_\d{6}$/);
      assert.deepEqual([fitted.base_name, fitted.overwrite, fitted.model_params.input_dim], ['far', false, 3]);
      await until(() => files(daemon).includes(`${fitted.model}_ecod.pkl`), 'the file is there');
      assert.equal(existsSync(shelf(other)), false);
      const ask = { model: 'far-latest', backend: 'ecod', data: PROBE, explain: true };
      const { data, summary, model } = await ok(at('score'), ask);
      const here = await ok(`${daemon.runtime}/v1/anomaly/score`, ask);
      assert.deepEqual([data, summary, model], [here.data, here.summary, here.model]);
      const { data: found } = await ok(at('detect'), { model: 'far', backend: 'ecod', data: PROBE });
      assert.deepEqual(
        found.map((one: Body) => one.index),
        here.data.filter((one: Body) => one.is_anomaly).map((one: Body) => one.index),
      );
      assert.equal((await ok(at('load'), { model: 'far-latest', backend: 'ecod' })).filename, `${fitted.model}_ecod.pkl`);
      assert.equal((await ok(at('save'), { model: 'far-latest', backend: 'ecod' })).status, 'saved');
      const list = (await (await fetch(at('models'))).json()) as Body;
      const listed = list.data.find((one: Body) => one.name === fitted.model);
      assert.deepEqual([listed.base_name, listed.is_versioned, listed.description], ['far', true, 'Far away']);
      const unknown = await post(at('score'), { model: 'nobody', backend: 'ecod', data: PROBE });
      assert.deepEqual([unknown.status, /Model not fitted/.test(unknown.body.detail)], [400, true]);
      const ragged = await post(at('fit'), { model: 'bad', backend: 'ecod', data: [[1], [2, 3]] });
      assert.deepEqual([ragged.status, /row 1 has 2 columns/.test(ragged.body.detail)], [400, true], JSON.stringify(ragged.body));
      const deleted = await fetch(at(`models/${fitted.model}_ecod.pkl`), { method: 'DELETE' });
      assert.deepEqual([deleted.status, files(daemon).includes(`${fitted.model}_ecod.pkl`)], [200, false]);
    } finally {
      await other.end('SIGKILL');
      rmSync(other.dataDir, { recursive: true, force: true });
    }
  });
});

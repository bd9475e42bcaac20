import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { textSet } from '../support/classifiers/sets.js';
import { type DaemonUnderTest, emptyDataDir, startDaemon } from '../support/daemon.js';

/** Committed number of kills; `KILLS=100` runs the long loop. */
const KILLS = Number(process.env.KILLS ?? 4);
const { train, heldOut } = textSet('intents', 4);
const LABELS = ['book_table', 'play_music', 'set_alarm', 'transfer_money', 'weather'];

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  readonly body: any;
}

async function send(url: string, body: object, signal?: AbortSignal): Promise<Answer> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), ...(signal ? { signal } : {}) });
  return { status: answer.status, body: await answer.json() };
}

async function listed(root: string): Promise<Answer['body']> {
  return (await fetch(`${root}/models`)).json();
}

/** Many examples, so that a fit takes long. */
const many = (count: number): object[] =>
  Array.from({ length: count }, (_none, at) => ({ ...train[at % train.length]!, text: `${train[at % train.length]!.text} ${at * 7919}` }));

describe('classifiers of a daemon', () => {
  const running: DaemonUnderTest[] = [];
  const start = async (dataDir: string, args: string[] = []): Promise<DaemonUnderTest> => {
    const daemon = await startDaemon({ dataDir, args });
    running.push(daemon);
    return daemon;
  };
  after(() => Promise.all(running.map((daemon) => daemon.end('SIGKILL'))));

  it(`survive ${KILLS} kills during fits and saves: the old or the new one is there, whole`, async () => {
    const dataDir = emptyDataDir();
    const folder = join(dataDir, 'models/classifier');
    const texts = [heldOut[0]!.text, heldOut[150]!.text];
    let daemon = await start(dataDir);
    assert.equal(
      (await send(`${daemon.core}/v1/ml/classifier/fit`, { model: 'intents', training_data: train, overwrite: true })).status,
      200,
    );
    const first = await send(`${daemon.core}/v1/ml/classifier/predict`, { model: 'intents', texts });
    for (let kill = 0; kill < KILLS; kill += 1) {
      const fits = [1, 2].map(() =>
        (async () => {
          for (;;) await send(`${daemon.core}/v1/ml/classifier/fit`, { model: 'intents', training_data: train, overwrite: true });
        })().catch(() => {}),
      );
      const unseen = send(`${daemon.core}/v1/ml/classifier/fit`, { model: 'unseen', training_data: many(4000), overwrite: true }).then(
        ({ status }) => status,
        () => 'cut',
      );
      await sleep(200 + 150 * Math.random());
      await daemon.end('SIGKILL');
      await Promise.all(fits);
      const outcome = await unseen;
      daemon = await start(dataDir);
      const again = await send(`${daemon.runtime}/v1/classifier/predict`, { model: 'intents', texts });
      assert.deepEqual(again, first);
      const list = await listed(`${daemon.core}/v1/ml/classifier`);
      const names = list.data.map(({ name }: { name: string }) => name).sort();
      // Nearly always its fit is cut off.
      const isThere = names.includes('unseen');
      assert.ok(isThere || outcome !== 200, 'what was acknowledged is there');
      assert.deepEqual(names, ['intents', ...(isThere ? ['unseen'] : [])]);
      for (const { labels } of list.data) assert.deepEqual(labels, LABELS);
      assert.deepEqual(readdirSync(folder).sort(), names);
      if (isThere) await fetch(`${daemon.core}/v1/ml/classifier/models/unseen`, { method: 'DELETE' });
    }
  });

  it('end a fit when its client goes, and answer others meanwhile', async () => {
    let daemon: DaemonUnderTest;
    let outcomes: unknown[];
    // Sooner where they were done before, as on a quick machine.
    for (let waitMs = 1000; ; waitMs /= 3) {
      daemon = await start(emptyDataDir());
      const gone = new AbortController();
      const waiting = [1, 2].map((at) =>
        send(
          `${daemon.core}/v1/ml/classifier/fit`,
          { model: `left${at}`, training_data: many(10_000), overwrite: true },
          gone.signal,
        ).catch((error: Error) => error.name),
      );
      await sleep(waitMs);
      gone.abort();
      outcomes = await Promise.all(waiting);
      if (outcomes.every((one) => typeof one === 'string') || waitMs < 10) break;
    }
    assert.deepEqual(outcomes, ['AbortError', 'AbortError']);
    // Both places are free again: a small fit would otherwise wait for seconds behind them.
    const fitted = await send(`${daemon.core}/v1/ml/classifier/fit`, { model: 'small', training_data: train, overwrite: true });
    assert.equal(fitted.status, 200);
    assert.deepEqual(readdirSync(join(daemon.dataDir, 'models/classifier')), ['small']);
  });

  it('are those of the remote runtime where the core has one', async () => {
    const remote = await start(emptyDataDir());
    const daemon = await start(emptyDataDir(), ['--runtime-url', remote.runtime]);
    const core = `${daemon.core}/v1/ml/classifier`;
    const fitted = await send(`${core}/fit`, { model: 'far', training_data: train });
    assert.equal(fitted.status, 200, JSON.stringify(fitted.body));
    assert.match(fitted.body.model, /^far_\d{8}_\d{6}$/);
    assert.deepEqual([fitted.body.labels, fitted.body.embedder, fitted.body.overwrite], [LABELS, 'quern-tfidf', false]);
    assert.equal(fitted.body.cross_validation.labels.weather.support, 4);
    assert.ok(existsSync(join(remote.dataDir, 'models/classifier', fitted.body.model, 'labels.txt')));
    assert.ok(!existsSync(join(daemon.dataDir, 'models/classifier')));
    const asked = { texts: heldOut.slice(0, 20).map(({ text }) => text) };
    const here = await send(`${core}/predict`, { model: 'far-latest', ...asked });
    const there = await send(`${remote.runtime}/v1/classifier/predict`, { model: fitted.body.model, ...asked });
    assert.deepEqual(here, there);
    const described = await send(`${core}/save`, { model: 'far-latest', description: 'over there' });
    assert.equal(described.status, 200);
    const list = await listed(core);
    assert.deepEqual([list.total, list.data[0].description], [1, 'over there']);
    assert.equal((await send(`${core}/load`, { model: fitted.body.model })).status, 200);
    assert.equal((await send(`${core}/predict`, { model: 'none', ...asked })).status, 404);
    assert.equal((await send(`${core}/fit`, { model: 'far', training_data: train, base_model: 'nobody/nothing' })).status, 404);
    const removed = await fetch(`${core}/models/${fitted.body.model}`, { method: 'DELETE' });
    assert.equal(removed.status, 200);
    assert.equal((await send(`${remote.runtime}/v1/classifier/load`, { model: fitted.body.model })).status, 404);
  });
});

import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setLogLevel } from '../../../../../runtime/base/log.js';
import { modelMissing } from '../../../../../runtime/formats/model-files.js';
import type { Hub } from '../../../../../runtime/models/fetch/hub.js';
import { ModelFetches, withFetchRight } from '../../../../../runtime/models/fetch/on-use.js';
import { findGguf } from '../../../../../runtime/models/find/gguf.js';
import { bytesOf, type HubStage, hubStage } from './stage.js';

const MIB = 1024 * 1024;
const never = new AbortController().signal;

setLogLevel('error');

describe('fetching a model on its first use', () => {
  let stage: HubStage;
  before(async () => {
    stage = await hubStage();
  });
  after(() => stage.close());
  afterEach(() => {
    stage.server.calm();
    stage.server.delayMs = 0;
    stage.server.seen.length = 0;
  });

  const opened = (waitMs?: number, hub: Hub = stage.hub()): ModelFetches => new ModelFetches(hub, { waitMs });
  /** What a use does: it finds the file, or says that there is none. */
  const use = (model: string) => async () => {
    const places = { folder: join(stage.cache, 'none'), builtIn: join(stage.cache, 'none'), hub: stage.cache };
    return (await findGguf(model, places)).weights[0];
  };
  const ask = (fetches: ModelFetches, model: string, wish = {}): Promise<string> =>
    fetches.need(model, { signal: never, ...wish }, use(model));
  const asked = (part: string): number => stage.server.seen.filter(({ path }) => path.includes(part)).length;
  const halves = (repository: string): string[] => {
    try {
      return readdirSync(join(stage.cache, `models--${repository.replace('/', '--')}`, 'blobs')).filter((name) => name.includes('quern'));
    } catch {
      return [];
    }
  };

  it('fetches once for all who ask, and tells how far it is', async () => {
    stage.server.put('org/shared', { 'model-Q4_K_M.gguf': bytesOf(2 * MIB) });
    const fetches = opened();
    const answers = Promise.all([1, 2, 3].map(() => ask(fetches, 'org/shared:Q4_K_M')));
    while (fetches.list().length === 0) await sleep(1);
    const [running] = fetches.list();
    assert.deepEqual([running!.state, fetches.list().length], ['running', 1]);
    for (const file of await answers) assert.match(file, /model-Q4_K_M\.gguf$/);
    assert.equal(asked('/resolve/'), 1);
    assert.deepEqual([running!.state, running!.bytes, running!.totalBytes], ['done', 2 * MIB, 2 * MIB]);
    assert.equal(await ask(fetches, 'org/shared:Q4_K_M'), (await answers)[0]);
    assert.equal(fetches.list().length, 1, 'what is here is not fetched');
  });

  it('answers busy with the progress where it comes too late, and goes on', async () => {
    stage.server.put('org/slow', { 'model.gguf': bytesOf(2 * MIB, 2) });
    stage.server.delayMs = 20;
    const fetches = opened(1);
    const patient = ask(fetches, 'org/slow', { waitMs: Number.POSITIVE_INFINITY });
    while ((fetches.list()[0]?.totalBytes ?? null) === null) await sleep(1);
    const error = await ask(fetches, 'org/slow').catch((failure: unknown) => failure);
    const { kind, code, retryAfterS, message } = error as { kind: string; code: string; retryAfterS: number; message: string };
    assert.deepEqual([kind, code, retryAfterS >= 5], ['busy', 'ModelOnItsWay', true]);
    assert.match(message, /^org\/slow is being fetched: [\d.]+[KM]?B of 2\.0MB.*GET \/v1\/tasks\//);
    assert.match(await patient, /model\.gguf$/);
    assert.equal(asked('/resolve/'), 1);
  });

  it('lists what comes now, and other downloads by their repositories, until they have ended', async () => {
    stage.server.put('org/used', { 'model.gguf': bytesOf(2 * MIB, 20) });
    stage.server.put('org/pulled', { 'model.gguf': bytesOf(2 * MIB, 21) });
    stage.server.delayMs = 20;
    const hub = stage.hub();
    const fetches = opened(undefined, hub);
    const [use, plan] = [ask(fetches, 'org/used'), await hub.plan('org/pulled', never)];
    const pull = hub.download(plan, never);
    await pull.next();
    while ((fetches.list()[0]?.totalBytes ?? null) === null) await sleep(1);
    const { onUse, followed } = fetches.running();
    assert.deepEqual([onUse.map(({ model }) => model), followed], [['org/used'], ['org/pulled']]);
    await use;
    for await (const _event of pull);
    assert.deepEqual(fetches.running(), { onUse: [], followed: [] });
  });

  it('goes on when who asked has left', async () => {
    stage.server.put('org/left', { 'model.gguf': bytesOf(MIB, 3) });
    stage.server.delayMs = 10;
    const fetches = opened();
    const client = new AbortController();
    const waiting = ask(fetches, 'org/left', { signal: client.signal });
    while (fetches.list().length === 0) await sleep(1);
    client.abort(new Error('gone'));
    await assert.rejects(waiting, /gone/);
    await fetches.list()[0]!.done;
    assert.match(await use('org/left')(), /model\.gguf$/);
  });

  it('leaves nothing behind when it is cancelled, and begins anew', async () => {
    stage.server.put('org/cancelled', { 'model.gguf': bytesOf(8 * MIB, 4) });
    stage.server.delayMs = 10;
    const fetches = opened();
    const waiting = ask(fetches, 'org/cancelled');
    waiting.catch(() => undefined);
    while ((fetches.list()[0]?.bytes ?? 0) === 0) await sleep(10);
    const running = fetches.list()[0]!;
    assert.notDeepEqual(halves('org/cancelled'), []);
    await running.cancel();
    await assert.rejects(waiting, { kind: 'unavailable', code: 'FetchCancelled', message: /org\/cancelled was cancelled/ });
    assert.deepEqual([running.state, halves('org/cancelled')], ['cancelled', []]);
    for (const folder of [stage.cache, join(stage.cache, '.locks')]) assert.ok(!existsSync(join(folder, 'models--org--cancelled')));
    stage.server.delayMs = 0;
    assert.match(await ask(fetches, 'org/cancelled'), /model\.gguf$/);
  });

  it('goes on where a process that ended had come to', async () => {
    stage.server.put('org/resumed', { 'model.gguf': bytesOf(40 * MIB, 5) });
    stage.server.mischief('model.gguf', { kind: 'stall', after: 9 * MIB }, 100);
    const hub = stage.hub({ stallMs: 60_000 });
    const first = opened(undefined, hub);
    ask(first, 'org/resumed').catch(() => undefined);
    // All of the second part, and 8 MiB of the first one.
    while ((first.list()[0]?.bytes ?? 0) < 16 * MIB) await sleep(20);
    first.close();
    await hub.close();
    stage.server.calm();
    stage.server.seen.length = 0;
    assert.match(await ask(opened(), 'org/resumed'), /model\.gguf$/);
    const begun = stage.server.seen.flatMap(({ range }) => range ?? []);
    assert.ok(!begun.includes(`bytes=0-${32 * MIB - 1}`), begun.join());
  });

  it('says what keeps a model from coming', async () => {
    const fetches = opened();
    await assert.rejects(ask(fetches, 'org/unknown'), {
      kind: 'not_found',
      code: 'ModelNotFound',
      message: /org\/unknown is not on this machine and could not be fetched: .*check the name/,
    });
    const lost = stage.hub({ endpoint: 'http://127.0.0.1:9', pauseMs: 1 });
    await assert.rejects(ask(opened(undefined, lost), 'org/lost'), {
      kind: 'unavailable',
      message: /org\/lost is not on this machine.*ask again when the network is there, or run "quern pull org\/lost"/,
    });
    const weights = bytesOf(2000);
    Object.defineProperty(weights, 'length', { value: 2 ** 50 });
    stage.server.put('org/huge', {});
    const huge = stage.server.put('org/huge', {});
    huge.files.set('model.gguf', { bytes: weights, large: true });
    await assert.rejects(ask(fetches, 'org/huge'), { kind: 'disk_full', code: 'NotEnoughSpace', message: /org\/huge.*HF_HUB_CACHE/ });
    assert.equal(asked('/resolve/'), 0);
  });

  it('asks no hub that is offline, for nobody who may not, and for names that no hub has', async () => {
    stage.server.put('org/there', { 'model.gguf': bytesOf(1000) });
    const offline = opened(undefined, stage.hub({ offline: true }));
    await assert.rejects(ask(offline, 'org/there'), {
      kind: 'not_found',
      code: 'ModelNotFound',
      message: /quern pull org\/there.*HF_HUB_OFFLINE/,
    });
    const fetches = opened();
    await assert.rejects(
      withFetchRight('nothing', () => ask(fetches, 'org/there')),
      { kind: 'not_found', message: /pull it first, or ask those who run this machine/ },
    );
    for (const name of ['alone', '/somewhere/model.gguf', 'org/there/model.gguf']) {
      const missing = modelMissing(name, { why: 'it is not here', remedies: ['look'] });
      await assert.rejects(
        fetches.need(name, { signal: never }, () => Promise.reject(missing)),
        { kind: 'not_found' },
      );
    }
    const other = modelMissing('org/other', { why: 'it is not here', remedies: ['look'] });
    await assert.rejects(
      fetches.need('org/there', { signal: never }, () => Promise.reject(other)),
      { message: other.message },
    );
    assert.equal(stage.server.seen.length, 0);
  });

  it('sends no token for those who may have what everybody may, and all of it for others', async () => {
    stage.server.put('org/open', { 'model.gguf': bytesOf(MIB, 6) });
    const fetches = opened(undefined, stage.hub({ token: 'hf_canary' }));
    assert.match(await withFetchRight('public', () => ask(fetches, 'org/open')), /model\.gguf$/);
    assert.ok(stage.server.seen.length > 2);
    assert.ok(stage.server.seen.every(({ authorization }) => authorization === undefined));
    stage.server.put('org/locked', { 'model.gguf': bytesOf(1000, 7) }, { token: 'hf_canary' });
    await assert.rejects(
      withFetchRight('public', () => ask(fetches, 'org/locked')),
      { code: 'ModelGated' },
    );
    assert.match(await ask(fetches, 'org/locked'), /model\.gguf$/);
  });

  it('fetches for work in the background by its namespace, whoever it begins with', async () => {
    stage.server.put('org/later', { 'model.gguf': bytesOf(1000, 8) });
    const fetches = opened();
    fetches.rightOf = (namespace) => (namespace === 'mine' ? 'nothing' : 'all');
    await assert.rejects(
      withFetchRight('all', () => fetches.inBackground('mine', () => ask(fetches, 'org/later'))),
      { code: 'ModelNotFound', message: /ask those who run/ },
    );
    assert.match(await withFetchRight('nothing', () => fetches.inBackground('other', () => ask(fetches, 'org/later'))), /model\.gguf$/);
  });

  it('asks the hub once for a crowd that comes one after the other to what fails', async () => {
    const fetches = opened();
    for (let at = 0; at < 3; at++) await assert.rejects(ask(fetches, 'org/nobody'), { kind: 'not_found' });
    assert.equal(asked('org/nobody'), 1);
  });
});

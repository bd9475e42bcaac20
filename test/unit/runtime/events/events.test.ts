import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setLogLevel } from '../../../../runtime/base/log.js';
import { Events } from '../../../../runtime/events/events.js';
import { openStore, type Store } from '../../../../runtime/store/store.js';
import type { EventsConfig } from '../../../../schemas/generated/config/project.js';
import { until } from '../../../support/until.js';

setLogLevel('error');

describe('event logs', () => {
  let dataDir: string;
  let store: Store;
  let events: Events;
  let erase: (namespace: string, name: string) => Promise<void>;
  let settings: EventsConfig = {};

  const configOf = () => ({ version: 'v1', name: 'p', namespace: 'ns', runtime: { models: [] }, events: settings }) as never;
  const project = (name = 'p') => ({ namespace: 'ns', name, config: configOf() });
  const add = (name: string, startedMs: number, text = 'x', model = 'm') => {
    events.begin('inference', project(name), { startedMs }).end({ model, content: { response: text } });
  };
  const open = async () => {
    store = await openStore(dataDir);
    events = new Events({
      store,
      projects: {
        load: () => ({ config: configOf() }),
        onErase: (listener) => {
          erase = listener;
        },
      },
    });
  };
  const close = async () => {
    await events.close();
    await store.close();
  };

  before(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'quern-events-'));
    await open();
  });
  after(async () => {
    await close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('writes by itself what ended 100 ms ago', async (t) => {
    const { written } = store.counts;
    t.mock.timers.enable({ apis: ['setTimeout'] });
    add('alone', Date.now());
    t.mock.timers.tick(99);
    await new Promise(setImmediate);
    assert.equal(store.counts.written, written);
    t.mock.timers.tick(1);
    t.mock.timers.reset();
    await until(() => store.counts.written > written, 'the event is written');
  });

  it('writes all that ended within a moment at once, and finds them after a restart', async () => {
    const now = Date.now();
    const before = store.counts.written;
    for (let at = 0; at < 700; at += 1) add('many', now - at);
    assert.equal(store.counts.written, before);
    const { total, events: found } = await events.list('ns', 'many', { limit: 100, offset: 250 });
    assert.equal(total, 700);
    assert.equal(found.length, 100);
    assert.deepEqual(
      found.map(({ timestamp }) => timestamp),
      found.map((_, at) => new Date(now - 250 - at).toISOString()),
    );
    await close();
    await open();
    assert.equal((await events.list('ns', 'many', { limit: 1, offset: 0 })).total, 700);
    const [one] = found;
    assert.match(one!.event_id, /^evt_\d{8}_\d{6}_inference_[0-9a-f]{6}$/);
    assert.match(one!.request_id, /^req_[0-9a-f]{12}$/);
    assert.equal((await events.get('ns', 'many', one!.event_id)).data.response, 'x');
  });

  it('filters by times, both included, and by what an event is about', async () => {
    const start = Date.UTC(2026, 0, 1);
    settings = { max_age_days: 3650 };
    for (let at = 0; at < 5; at += 1) add('times', start + at * 1000, 'x', at % 2 === 0 ? 'even' : 'odd');
    const count = async (query: object) => (await events.list('ns', 'times', { limit: 10, offset: 0, ...query })).total;
    assert.equal(await count({ start_time: '2026-01-01T00:00:01Z', end_time: '2026-01-01T00:00:03Z' }), 3);
    assert.equal(await count({ start_time: '2026-01-01T00:00:04' }), 1);
    assert.equal(await count({ end_time: '2025-12-31' }), 0);
    assert.equal(await count({ model: 'odd' }), 2);
    assert.equal(await count({ model: 'even', start_time: '2026-01-01T00:00:01Z' }), 2);
    assert.equal(await count({ status: 'failed' }), 0);
    assert.equal(await count({ type: 'rag_processing' }), 0);
    assert.equal(await count({ session_id: 'none' }), 0);
    settings = {};
  });

  it('removes what is too old', async () => {
    settings = { max_age_days: 3650 };
    add('old', Date.now() - 2 * 86_400_000);
    add('old', Date.now());
    assert.equal((await events.list('ns', 'old', { limit: 10, offset: 0 })).total, 2);
    settings = { max_age_days: 1 };
    await events.prune();
    const { events: left } = await events.list('ns', 'old', { limit: 10, offset: 0 });
    assert.equal(left.length, 1);
    settings = {};
  });

  it('removes the oldest where all take too much room, and keeps what is left in order', async () => {
    settings = { max_bytes: 100_000 };
    const now = Date.now();
    for (let at = 0; at < 50; at += 1) {
      add('large', now + at, 'y'.repeat(10_000));
      if (at % 10 === 9) await events.flush();
    }
    const { events: left, total } = await events.list('ns', 'large', { limit: 100, offset: 0 });
    assert.ok(total >= 5 && total <= 9, `${total} events are left`);
    assert.equal(left[0]!.timestamp, new Date(now + 49).toISOString());
    assert.equal(left.at(-1)!.timestamp, new Date(now + 50 - total).toISOString());
    settings = {};
  });

  it('keeps a configuration as long as an event refers to it', async () => {
    settings = { max_age_days: 10 };
    add('configs', Date.now() - 5 * 86_400_000);
    await events.flush();
    settings = { max_age_days: 9 };
    add('configs', Date.now());
    const [newest, oldest] = (await events.list('ns', 'configs', { limit: 10, offset: 0 })).events;
    assert.deepEqual((events.config('ns', 'configs', oldest!.config_hash) as { events: object }).events, { max_age_days: 10 });
    assert.notEqual(newest!.config_hash, oldest!.config_hash);
    settings = { max_age_days: 1 };
    await events.prune();
    assert.equal(events.config('ns', 'configs', oldest!.config_hash), undefined);
    assert.ok(events.config('ns', 'configs', newest!.config_hash));
    settings = {};
  });

  it('forgets a deleted project, with what was under way there', async () => {
    add('gone', Date.now());
    const late = events.begin('inference', project('gone'));
    add('goner', Date.now());
    const aborted = new AbortController();
    const heard: string[] = [];
    const following = (async () => {
      for await (const { event_id: id } of events.follow('ns', 'gone', {}, aborted.signal)) heard.push(id);
    })();
    await erase('ns', 'gone');
    await following;
    late.end({});
    assert.equal((await events.list('ns', 'gone', { limit: 10, offset: 0 })).total, 0);
    assert.equal((await events.list('ns', 'goner', { limit: 10, offset: 0 })).total, 1);
    add('gone', Date.now());
    assert.equal((await events.list('ns', 'gone', { limit: 10, offset: 0 })).total, 1);
  });

  it('tells readers of what is stored, and forgets those who leave', async () => {
    const aborted = new AbortController();
    const heard: (string | null)[] = [];
    const following = (async () => {
      for await (const item of events.follow('ns', 'told', { model: 'wanted' }, aborted.signal)) heard.push(item.summary.model);
    })();
    add('told', Date.now(), 'x', 'other');
    add('told', Date.now(), 'x', 'wanted');
    add('elsewhere', Date.now(), 'x', 'wanted');
    await events.flush();
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(heard, ['wanted']);
    aborted.abort();
    await following;
    const readers = Array.from({ length: 100 }, () => new AbortController());
    for (const { signal } of readers) events.follow('ns', 'told', {}, signal);
    assert.throws(() => events.follow('ns', 'told', {}, new AbortController().signal), /100 readers/);
    for (const reader of readers) reader.abort();
    events.follow('ns', 'told', {}, AbortSignal.abort());
  });
});

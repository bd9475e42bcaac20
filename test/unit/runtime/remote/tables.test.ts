import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { Outbound } from '../../../../runtime/net/outbound.js';
import { RemoteAnomaly } from '../../../../runtime/remote/anomaly.js';
import { RemoteBuffers } from '../../../../runtime/remote/buffers.js';
import { RemoteStreams } from '../../../../runtime/remote/streams.js';
import type { DetectorSettings } from '../../../../runtime/store/store.js';
import { Failure } from '../../../../schemas/errors.js';

const outbound = new Outbound();
after(() => outbound.close());
const { signal } = new AbortController();
/** Nobody listens there. */
const URLS = ['http://127.0.0.1:1'];
const SHOWN = '-Infinity (a number too large for 64 bits)';

const buffers = new RemoteBuffers(outbound, URLS);
const append = (rows: readonly unknown[]) => buffers.append('b', rows as Record<string, unknown>[], signal);

const streams = new RemoteStreams(outbound, URLS);
const submit = (samples: readonly unknown[], schema: DetectorSettings['schema'] = null) =>
  streams.submit('s', { lags: [], schema } as unknown as DetectorSettings, samples, signal);

const anomaly = new RemoteAnomaly(outbound, URLS);
const MODEL = { model: 'm', backend: 'hbos', normalization: 'raw' } as const;
const fit = (data: readonly unknown[], schema?: Record<string, string>, overwrite = true) =>
  anomaly.fit({ ...MODEL, data, schema, overwrite, contamination: 0.1, epochs: 1, batchSize: 1 }, signal);
const score = (data: readonly unknown[]) => anomaly.score({ ...MODEL, data, explain: false }, signal);

const refused = (kind: string, start: string) => (failure: unknown) => {
  assert.ok(failure instanceof Failure && failure.kind === kind, String(failure));
  assert.ok(failure.message.startsWith(start), failure.message);
  return true;
};
/** The request was sent. */
const sent = { kind: 'unavailable' };

it('an infinity is not sent on to a runtime elsewhere as a null', async () => {
  const rows = [{ v: 1, t: null }, { v: -Infinity }];
  await assert.rejects(append(rows), refused('invalid', `Row 1, column "v": ${SHOWN} is beyond 1e+150`));
  await assert.rejects(submit(rows), refused('invalid', `Row 1, column "v": ${SHOWN} is no number up to 1e+100`));
  await assert.rejects(submit([[1], [-Infinity]]), refused('invalid', `Row 1, column "f0": ${SHOWN} is no number up to 1e+100`));
  const field = refused('bad_request', `data: row 1, field "v" is ${SHOWN}; it must be a number of at most 1e+100`);
  for (const overwrite of [true, false]) await assert.rejects(fit(rows, { v: 'numeric' }, overwrite), field);
  await assert.rejects(score(rows), field);
  const column = refused('bad_request', `data: row 1, column 1 is ${SHOWN}; it must be a number of at most 1e+100`);
  const lists = [
    [1, 2],
    [1, -Infinity],
  ];
  await assert.rejects(fit(lists), column);
  await assert.rejects(score(lists), column);
});

it('what only reads like an infinity is sent on', async () => {
  const rows = [
    { city: 'Infinity' },
    { city: '1e999' },
    { city: [Infinity] },
    { city: ['Infinity'] },
    { city: { toString: 1, valueOf: 1 } },
  ];
  await assert.rejects(append(rows), sent);
  await assert.rejects(submit(rows), sent);
  await assert.rejects(fit(rows, { city: 'hash' }), sent);
  await assert.rejects(score(rows), sent);
});

it('of the fields of a schema alone an infinity is refused', async () => {
  const rows = [{ v: 1, other: Infinity }];
  await assert.rejects(submit(rows, { v: 'numeric' }), sent);
  await assert.rejects(submit([[1, Infinity]], { f0: 'numeric' }), sent);
  await assert.rejects(submit([[1, -Infinity]], { f1: 'numeric' }), refused('invalid', `Row 0, column "f1": ${SHOWN}`));
  await assert.rejects(fit(rows, { v: 'numeric' }), sent);
});

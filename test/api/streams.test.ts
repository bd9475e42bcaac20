import assert from 'node:assert/strict';
import { it } from 'node:test';
import { coreEndpoints } from '../../gateway/core/index.js';
import { universalEndpoints } from '../../gateway/universal/index.js';
import { loadCore } from '../../native/loader.js';
import { type Expected, expectations, type Scenario, scenarios } from '../support/scenario.js';
import { samples } from '../support/stream-settings.js';
import { tablesStage } from '../support/tables-stage.js';

interface Result {
  index: number;
  score: number | null;
  is_anomaly: boolean | null;
  raw_score: number | null;
  samples_until_ready: number;
}

/** The rows of one port; `base` is where its streams lie. */
function tableOf(base: string, restart: () => Promise<void>): Scenario[] {
  const get = (name: string, path: string, expected: Expected): Scenario => ({ name, path: base + path, ...expectations(expected) });
  const post = (name: string, body: object, expected: Expected = {}): Scenario => ({
    name,
    method: 'POST',
    path: base,
    body,
    ...expectations(expected),
  });
  const refused = (name: string, body: object, ...contains: string[]): Scenario => post(name, body, { status: 422, contains });
  const s = { model: 's', min_samples: 10, retrain_interval: 1000, window_size: 50 };
  let before: number[] = [];
  const backends = loadCore().anomalyBackends();
  /** The score of a sample far from the others, by detector. */
  const far = new Map<string, number>();
  return [
    get('no detectors', '/detectors', (body) => assert.deepEqual(body, { object: 'list', data: [], total: 0 })),
    post('1 of 50 samples', { data: { a: 1, b: 2 } }, (body) =>
      assert.deepEqual(body, {
        object: 'streaming_result',
        model: 'default-stream',
        status: 'collecting',
        model_version: 0,
        samples_collected: 1,
        samples_until_ready: 49,
        threshold: 0.5,
        results: [{ index: 0, score: null, is_anomaly: null, raw_score: null, samples_until_ready: 49 }],
      }),
    ),
    post('the other 49', { data: samples(1, 49) }, (body) => {
      assert.deepEqual([body.status, body.model_version, body.samples_collected], ['ready', 1, 50]);
      assert.deepEqual(body.results.at(-1), { index: 48, score: null, is_anomaly: null, raw_score: null, samples_until_ready: 0 });
      assert.deepEqual(
        body.results.map((one: Result) => one.samples_until_ready),
        Array.from({ length: 49 }, (_, index) => 48 - index),
      );
    }),
    post('the samples of a request before and after the first training', { ...s, data: samples(0, 14) }, ({ results, status }) => {
      assert.equal(status, 'ready');
      assert.deepEqual(
        results.map(({ score }: Result) => score === null),
        [...Array(10).fill(true), ...Array(4).fill(false)],
      );
      for (const { score, raw_score: raw } of results.slice(10)) assert.ok(score > 0 && score < 1 && Number.isFinite(raw));
    }),
    post(
      'what is far away scores higher',
      {
        ...s,
        data: [
          { a: 0, b: 5 },
          { a: 1000, b: 1000 },
        ],
      },
      ({ results: [usual, odd] }) => {
        assert.ok(odd.score > usual.score, JSON.stringify([usual, odd]));
        assert.deepEqual([usual.is_anomaly, odd.is_anomaly], [usual.score > 0.5, true]);
      },
    ),
    post(
      'keys count, not their order',
      {
        ...s,
        data: [
          { a: 0.3, b: 5.5 },
          { b: 5.5, a: 0.3 },
        ],
      },
      ({ results: [one, other] }) => assert.equal(one.score, other.score),
    ),
    post(
      'new keys and texts are counted, and ignored',
      {
        ...s,
        data: [
          { a: 0.3, b: 5.5 },
          { a: 0.3, b: 5.5, new: 7, text: 'word' },
        ],
      },
      ({ results: [one, other] }) => assert.equal(one.score, other.score),
    ),
    post(
      'a null counts as 0',
      {
        ...s,
        data: [
          { a: null, b: 5 },
          { a: 0, b: 5 },
        ],
      },
      ({ results: [one, other] }) => assert.equal(one.score, other.score),
    ),
    refused('a missing key', { ...s, data: [{ a: 1, b: 2 }, { a: 1 }] }, 'Row 1 lacks the key \\"b\\"', '"loc":["body","data",1,"b"]'),
    refused('a text for a number', { ...s, data: { a: 'x', b: 2 } }, 'Row 0', '\\"a\\"', 'the detector learned numbers'),
    refused('a nested value', { ...s, data: { a: { b: 1 }, b: 2 } }, 'Row 0'),
    refused('a number too large', { ...s, data: { a: 1e200, b: 2 } }, '1e+100'),
    {
      ...refused(
        'a number beyond any',
        {},
        'Row 1, column \\"b\\": Infinity (a number too large for 64 bits) is no number up to 1e+100',
        '"input":"Infinity (a number',
      ),
      headers: { 'content-type': 'application/json' },
      body: '{"model":"s","data":[{"a":1,"b":2},{"a":1,"b":1e999}]}',
    },
    refused('no sample', { ...s, data: 5 }, 'data'),
    refused('a list of numbers for one sample', { ...s, data: [1, 2] }, 'data'),
    refused('too few min_samples', { model: 'x', data: {}, min_samples: 9 }, 'min_samples'),
    refused('a small retrain_interval', { model: 'x', data: {}, retrain_interval: 9 }, 'retrain_interval'),
    refused('a small window', { model: 'x', data: {}, window_size: 49 }, 'window_size'),
    refused('min_samples above the window', { model: 'x', data: { a: 1 }, min_samples: 60, window_size: 50 }, 'min_samples is 60'),
    refused('a threshold above 1', { model: 'x', data: { a: 1 }, threshold: 1.5 }, 'threshold is 1.5'),
    refused('a contamination of 0', { model: 'x', data: { a: 1 }, contamination: 0 }, 'contamination'),
    refused('a contamination of 0.6', { model: 'x', data: { a: 1 }, contamination: 0.6 }, 'contamination'),
    refused(
      'an unknown backend',
      { model: 'x', data: { a: 1 }, backend: 'magic' },
      'body.backend: Unknown backend; must be one of',
      'magic',
    ),
    refused('an encoding that learns', { model: 'x', data: { a: 'w' }, schema: { a: 'label' } }, 'numeric, hash, binary'),
    refused('texts alone', { model: 'x', min_samples: 10, data: Array(10).fill({ a: 'w' }) }, 'No sample has a number'),
    post(
      'too many keys',
      { model: 'x', data: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`k${i}`, 1])) },
      { status: 413, contains: ['101', '100 are allowed'] },
    ),
    post('a path for a name', { model: '../x', data: { a: 1 } }, { status: 400, contains: ['cannot name a detector'] }),
    post('the name of the list', { model: 'detectors', data: { a: 1 } }, { status: 400 }),
    get('what was refused left no detector', '/x', { status: 404, contains: ['Streaming detector not found'] }),
    get('statistics', '/s', (body) => {
      const { drift, ...rest } = body;
      assert.deepEqual(rest, {
        object: 'streaming_detector',
        model_id: 's',
        backend: 'ecod',
        status: 'ready',
        model_version: 1,
        samples_collected: 22,
        total_processed: 22,
        samples_since_retrain: 12,
        min_samples: 10,
        retrain_interval: 1000,
        window_size: 50,
        threshold: 0.5,
        is_ready: true,
        normalization: 'standardization',
        contamination: 0.1,
        rolling_windows: [],
        lag_periods: [],
        schema: null,
        columns: ['a', 'b'],
        anomalies: rest.anomalies,
        ignored_values: 2,
        training_failures: 0,
        last_error: null,
      });
      assert.deepEqual(drift, { method: 'population_stability_index', value: null, samples: 12, level: 'unknown' });
      assert.ok(rest.anomalies > 0);
    }),
    post(
      'later settings change nothing',
      { ...s, min_samples: 500, window_size: 5000, threshold: 0.99, data: samples(50, 5) },
      async ({ threshold, results }) => {
        assert.equal(threshold, 0.5);
        before = results.map(({ score }: Result) => score);
        await restart();
      },
    ),
    post(
      'after a restart it goes on where it stopped, with the same scores',
      { ...s, data: samples(50, 5) },
      ({ results, model_version: version, samples_collected: collected }) => {
        assert.deepEqual(
          results.map(({ score }: Result) => score),
          before,
        );
        assert.deepEqual([version, collected], [1, 32]);
      },
    ),
    post('the window keeps the newest', { ...s, data: samples(100, 100) }, (body) => assert.equal(body.samples_collected, 50)),
    post('scores that move away are a drift', { ...s, data: samples(0, 40).map(({ a, b }) => ({ a: a + 30, b: b - 30 })) }),
    get('it is in the statistics', '/s', ({ drift, total_processed: total }) => {
      assert.equal(total, 172);
      assert.deepEqual([drift.level, drift.samples], ['strong', 162]);
      assert.ok(drift.value > 0.25);
    }),
    post('lists of numbers', { model: 'lists', min_samples: 10, data: samples(0, 10).map(({ a, b }) => [a, b]) }, ({ status }) =>
      assert.equal(status, 'ready'),
    ),
    get('their keys', '/lists', ({ columns }) => assert.deepEqual(columns, ['f0', 'f1'])),
    post('a short list', { model: 'lists', data: [[1]] }, { status: 422, contains: ['f1'] }),
    post(
      'rolling windows and lags',
      {
        model: 'rolling',
        min_samples: 20,
        window_size: 100,
        rolling_windows: [3, 10],
        include_lags: true,
        lag_periods: [1],
        data: samples(0, 30),
      },
      ({ results, status }) => {
        assert.equal(status, 'ready');
        assert.deepEqual(
          results.map(({ score }: Result) => score === null),
          [...Array(20).fill(true), ...Array(10).fill(false)],
        );
      },
    ),
    ...[[5], [5, 5]].map((windows) =>
      post(
        `windows ${windows}`,
        {
          model: `w${windows.length}`,
          min_samples: 20,
          rolling_windows: windows,
          include_lags: true,
          lag_periods: windows,
          data: samples(0, 30),
        },
        ({ results }) => {
          const scores = results.slice(20).map(({ score }: Result) => score);
          assert.ok(scores.every((score: unknown) => typeof score === 'number'));
          if (windows.length === 1) before = scores;
          assert.deepEqual(scores, before);
        },
      ),
    ),
    post(
      'a jump is found by what came before it',
      {
        model: 'rolling',
        data: [
          { a: 0.1, b: 5 },
          { a: 400, b: 900 },
        ],
      },
      async ({ results: [usual, odd] }) => {
        assert.ok(odd.score > usual.score);
        await restart();
      },
    ),
    post(
      'the rows before a restart are in the windows after it',
      { model: 'rolling', data: [{ a: 0.1, b: 5 }] },
      ({ results: [{ score }] }) => {
        // The jump is still in both windows.
        assert.ok(score > 0.5, String(score));
      },
    ),
    get('its settings', '/rolling', (body) => assert.deepEqual([body.rolling_windows, body.lag_periods], [[3, 10], [1]])),
    post(
      'texts under a schema',
      {
        model: 'texts',
        min_samples: 10,
        schema: { host: 'hash', ok: 'binary', ms: 'numeric' },
        data: Array.from({ length: 12 }, (_, i) => ({ host: `h${i % 3}`, ok: 'yes', ms: `${i}`, other: 'w' })),
      },
      ({ results, status }) => {
        assert.equal(status, 'ready');
        assert.ok(results[11].score !== null);
      },
    ),
    post(
      'scores in deviations',
      { model: 'z', min_samples: 10, normalization: 'zscore', data: [...samples(0, 30), { a: 50, b: 50 }] },
      ({ results, threshold }) => {
        assert.equal(threshold, 2);
        assert.ok(
          results.some(({ score }: Result) => score !== null && score < 0),
          'some scores are below the mean',
        );
      },
    ),
    post(
      'raw scores, with the threshold of the training',
      { model: 'r', min_samples: 10, normalization: 'raw', data: samples(0, 30) },
      ({ results, threshold }) => {
        assert.ok(threshold > 0);
        for (const { score, raw_score: raw } of results) assert.equal(score, raw);
      },
    ),
    ...backends.map((backend) =>
      post(
        `with ${backend}`,
        { model: `with-${backend}`, backend, min_samples: 20, data: [...samples(0, 30), { a: 900, b: -900 }] },
        ({ status, results }: { status: string; results: Result[] }) => {
          assert.equal(status, 'ready');
          assert.ok(results[30]!.score! > Math.min(...results.slice(20, 30).map(({ score }) => score!)));
          far.set(backend, results[30]!.score!);
        },
      ),
    ),
    get('all detectors', '/detectors', ({ data, total }) => {
      assert.equal(total, data.length);
      assert.deepEqual(
        data.slice(0, 2).map(({ model_id: id, status }: Record<string, unknown>) => [id, status]),
        [
          ['default-stream', 'ready'],
          ['lists', 'ready'],
        ],
      );
    }),
    {
      name: 'a reset',
      method: 'POST',
      path: `${base}/s/reset`,
      json: (body) => assert.deepEqual(body, { object: 'reset_result', model: 's', status: 'collecting', reset: true }),
    },
    get('forgets samples and model', '/s', async (body) => {
      assert.deepEqual(
        [body.status, body.model_version, body.samples_collected, body.total_processed, body.columns, body.min_samples],
        ['collecting', 0, 0, 0, [], 10],
      );
      await restart();
    }),
    get('also after a restart', '/s', (body) => assert.deepEqual([body.status, body.total_processed], ['collecting', 0])),
    ...backends.map((backend) =>
      post(
        `${backend} scores after the restart as before`,
        { model: `with-${backend}`, data: { a: 900, b: -900 } },
        ({ results }: { results: Result[] }) => assert.equal(results[0]!.score, far.get(backend)),
      ),
    ),
    post('and takes other keys', { ...s, data: { c: 1 } }, (body) =>
      assert.deepEqual([body.status, body.samples_until_ready], ['collecting', 9]),
    ),
    {
      name: 'deleting',
      method: 'DELETE',
      path: `${base}/s`,
      json: (body) => assert.deepEqual(body, { object: 'delete_result', model: 's', deleted: true }),
    },
    ...[
      ['GET', '/s'],
      ['DELETE', '/s'],
      ['POST', '/s/reset'],
      ['GET', '/%3Cx%3E'],
    ].map(
      ([method, path]): Scenario => ({
        name: `gone: ${method} ${path}`,
        method: method!,
        path: base + path!,
        status: path === '/%3Cx%3E' ? 400 : 404,
      }),
    ),
    post('its name is free', { model: 's', data: { d: 1 } }, (body) =>
      assert.deepEqual([body.samples_collected, body.samples_until_ready], [1, 49]),
    ),
  ];
}

for (const [title, endpoints, base] of [
  ['the streaming detectors of the core', coreEndpoints, '/v1/ml/anomaly/stream'],
  ['the streaming detectors of the runtime', universalEndpoints, '/v1/anomaly/stream'],
] as const) {
  const stage = tablesStage();
  scenarios(title, { endpoints, context: stage.context, close: stage.close }, tableOf(base, stage.restart));
}

it('serves the same endpoints under /anomaly/stream on both ports', () => {
  const idsOf = (endpoints: typeof coreEndpoints): string[] =>
    endpoints.filter(({ path }) => path.includes('/anomaly/stream')).map(({ id }) => id);
  assert.deepEqual(idsOf(universalEndpoints), [
    'stream_samples',
    'list_stream_detectors',
    'get_stream_detector',
    'reset_stream_detector',
    'delete_stream_detector',
  ]);
  assert.deepEqual(idsOf(coreEndpoints), [
    'ml_stream_samples',
    'ml_list_stream_detectors',
    'ml_get_stream_detector',
    'ml_reset_stream_detector',
    'ml_delete_stream_detector',
  ]);
});

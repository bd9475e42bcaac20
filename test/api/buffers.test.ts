import assert from 'node:assert/strict';
import { it } from 'node:test';
import { coreEndpoints } from '../../gateway/core/index.js';
import { universalEndpoints } from '../../gateway/universal/index.js';
import { type Expected, expectations, type Scenario, scenarios } from '../support/scenario.js';
import { tablesStage } from '../support/tables-stage.js';

const ARROW = 'application/vnd.apache.arrow.stream';

/** The rows of one port; `base` is where its buffers lie. */
function tableOf(base: string, restart: () => Promise<void>): Scenario[] {
  const get = (name: string, path: string, expected: Expected): Scenario => ({ name, path: base + path, ...expectations(expected) });
  const post = (name: string, path: string, body: unknown, expected: Expected = {}): Scenario => ({
    name,
    method: 'POST',
    path: base + path,
    body,
    ...expectations(expected),
  });
  const append = (name: string, data: unknown, expected: Expected = {}): Scenario =>
    post(name, '/append', { buffer_id: 'b', data }, expected);
  const refused = (name: string, data: unknown, ...contains: string[]): Scenario => append(name, data, { status: 422, contains });
  return [
    get('no buffers', '/buffers', (body) => assert.deepEqual(body, { object: 'list', data: [], total: 0 })),
    post('a buffer', '/buffers', { buffer_id: 'b', window_size: 10 }, (body) =>
      assert.deepEqual(body, { object: 'buffer_created', buffer_id: 'b', window_size: 10, status: 'created' }),
    ),
    post('twice', '/buffers', { buffer_id: 'b' }, { status: 409, contains: ['"b\\" exists already', 'BufferExists'] }),
    post('with the default window', '/buffers', { buffer_id: 'wide' }, (body) => assert.equal(body.window_size, 1000)),
    post('with a path for a name', '/buffers', { buffer_id: '../b' }, { status: 400, contains: ['cannot name a buffer'] }),
    post('with a long name', '/buffers', { buffer_id: 'x'.repeat(129) }, { status: 400 }),
    post('without a name', '/buffers', {}, { status: 422, contains: ['buffer_id'] }),
    post('with a small window', '/buffers', { buffer_id: 'c', window_size: 9 }, { status: 422, contains: ['window_size', '10'] }),
    post('with a huge window', '/buffers', { buffer_id: 'c', window_size: 1_000_001 }, { status: 422, contains: ['window_size'] }),
    get('an empty buffer has no rows', '/buffers/b/data', (body) =>
      assert.deepEqual(body, { object: 'polars_data', buffer_id: 'b', rows: 0, columns: [], data: [] }),
    ),
    post('and no features', '/features', { buffer_id: 'b' }, (body) => assert.deepEqual([body.rows, body.columns, body.data], [0, [], []])),
    append('one row', { v: 100, name: 'a' }, ({ avg_append_ms: ms, ...body }) => {
      assert.deepEqual(body, { object: 'append_result', buffer_id: 'b', appended: 1, buffer_size: 1 });
      assert.ok(ms > 0);
    }),
    append('another', [{ v: 150, name: 'b' }]),
    post(
      'windows take the rows that there are',
      '/features',
      { buffer_id: 'b', rolling_windows: [5], lag_periods: [1, 7] },
      ({ columns, data }) => {
        assert.deepEqual(columns, [
          'v',
          'name',
          'v_rolling_mean_5',
          'v_rolling_std_5',
          'v_rolling_min_5',
          'v_rolling_max_5',
          'v_lag_1',
          'v_lag_7',
        ]);
        assert.deepEqual(data[0], {
          v: 100,
          name: 'a',
          v_rolling_mean_5: 100,
          v_rolling_std_5: 0,
          v_rolling_min_5: 100,
          v_rolling_max_5: 100,
          v_lag_1: 0,
          v_lag_7: 0,
        });
        assert.equal(data[1].v_rolling_std_5.toFixed(2), '35.36');
        assert.deepEqual([data[1].v_lag_1, data[1].v_lag_7], [100, 0]);
      },
    ),
    post(
      'what else there is',
      '/features',
      {
        buffer_id: 'b',
        rolling_windows: [2],
        include_rolling_stats: ['median', 'sum', 'mean'],
        include_lags: false,
        roc_periods: [1],
        ewm_spans: [3],
        tail: 1,
      },
      ({ rows, columns, data }) => {
        assert.equal(rows, 1);
        assert.deepEqual(columns.slice(2), ['v_rolling_mean_2', 'v_rolling_sum_2', 'v_rolling_median_2', 'v_roc_1', 'v_ewm_mean_3']);
        assert.deepEqual(Object.values(data[0]).slice(2, 6), [125, 250, 125, 0.5]);
        assert.ok(Math.abs(data[0].v_ewm_mean_3 - (150 + 50) / 1.5) < 1e-12);
      },
    ),
    post('no features at all', '/features', { buffer_id: 'b', rolling_windows: [], include_lags: false }, (body) =>
      assert.deepEqual(body.columns, ['v', 'name']),
    ),
    post('the defaults', '/features', { buffer_id: 'b' }, (body) => assert.equal(body.columns.length, 2 + 12 + 3)),
    get('the defaults with the data', '/buffers/b/data?with_features=true&tail=1', (body) =>
      assert.deepEqual([body.rows, body.columns.length], [1, 17]),
    ),
    post(
      'an unknown statistic',
      '/features',
      { buffer_id: 'b', include_rolling_stats: ['mode'] },
      { status: 422, contains: ['include_rolling_stats'] },
    ),
    post('a window of nothing', '/features', { buffer_id: 'b', rolling_windows: [0] }, { status: 422, contains: ['rolling_windows'] }),
    post(
      'too many windows',
      '/features',
      { buffer_id: 'b', rolling_windows: Array(25).fill(3) },
      { status: 422, contains: ['rolling_windows'] },
    ),
    append('missing columns are null, integers become numbers', [{ v: 1.5 }, { late: true }, {}, { v: null, name: 'd' }]),
    get('they are', '/buffers/b/data', ({ columns, data }) => {
      assert.deepEqual(columns, ['v', 'name', 'late']);
      assert.deepEqual(data.slice(2), [
        { v: 1.5, name: null, late: null },
        { v: null, name: null, late: true },
        { v: null, name: null, late: null },
        { v: null, name: 'd', late: null },
      ]);
    }),
    refused(
      'a text among numbers',
      [{ v: 1 }, { v: 'hot' }],
      'Row 1',
      'column \\"v\\"',
      '\\"hot\\"',
      'the column holds numbers',
      '"loc":["body","data",1,"v"]',
    ),
    refused('a number among texts', { name: 5 }, 'Row 0', '\\"name\\"', 'holds texts since earlier appends'),
    refused('a text after a number of the same request', [{ w: 5 }, { w: 'x' }], 'holds integers since row 0 (5)'),
    refused('a truth value among numbers', { v: true }, 'true does not fit'),
    refused('an object for a value', { v: { x: 1 } }, 'is no number, text, truth value or null'),
    refused('a list for a value', { v: [1] }, 'is no number'),
    refused('a number whose square overflows', { v: 1e200 }, '1e+150'),
    post('a number beyond any', '/append', '{"buffer_id":"b","data":[{"v":1},{"v":-1e999}]}', {
      status: 422,
      headers: { 'content-type': 'application/json' },
      contains: ['Row 1, column \\"v\\": -Infinity (a number too large for 64 bits) is beyond 1e+150', '"input":"-Infinity (a number'],
    }),
    refused('no row', 5, 'data'),
    refused('a list of lists', [[1]], 'data'),
    refused('a long text', { t: 'x'.repeat(70_000) }, '70000 bytes', '65536'),
    refused('a column without a name', { '': 1 }, 'a name of 0 characters'),
    append('too many columns', Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`c${index}`, 1])), {
      status: 413,
      contains: ['500 columns'],
    }),
    append('a member that is no column', '{"buffer_id":"b","data":{"__proto__":{"x":1}}}', { status: 422 }),
    get('nothing of that was kept', '/buffers/b', (body) =>
      assert.deepEqual([body.size, body.append_count, body.columns], [6, 6, ['v', 'name', 'late']]),
    ),
    append(
      'more than the window',
      Array.from({ length: 12 }, (_, index) => ({ v: index, q: 'say "x", or\n2' })),
      (body) => assert.equal(body.buffer_size, 10),
    ),
    get('the newest stay', '/buffers/b/data?tail=0', ({ data }) =>
      assert.deepEqual(
        data.map((row: { v: number }) => row.v),
        [2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
      ),
    ),
    get('statistics', '/buffers/b', ({ memory_bytes: bytes, avg_append_ms: ms, ...body }) => {
      const expected = {
        buffer_id: 'b',
        size: 10,
        window_size: 10,
        columns: ['v', 'name', 'late', 'q'],
        numeric_columns: ['v'],
        append_count: 18,
      };
      assert.deepEqual(body, expected);
      assert.ok(bytes > 0 && ms > 0);
    }),
    get('as CSV', '/buffers/b/data?tail=2', {
      headers: { accept: 'text/csv' },
      answerHeaders: { 'content-type': 'text/csv; charset=utf-8' },
      contains: ['v,name,late,q\r\n10,,,"say ""x"", or\n2"\r\n11,,,"say ""x"", or\n2"\r\n'],
    }),
    get('in the form that is liked best', '/buffers/b/data', {
      headers: { accept: 'text/csv;q=0.2, application/json' },
      answerHeaders: { 'content-type': 'application/json' },
    }),
    get('in any form', '/buffers/b/data', {
      headers: { accept: 'image/png, */*;q=0.1' },
      answerHeaders: { 'content-type': 'application/json' },
    }),
    get('in no form that there is', '/buffers/b/data', {
      headers: { accept: 'application/xml' },
      status: 406,
      contains: ['application/xml', ARROW],
    }),
    get('in a form that is refused', '/buffers/b/data', { headers: { accept: 'application/json;q=0' }, status: 406 }),
    post(
      'as Arrow, with features',
      '/features',
      { buffer_id: 'b', rolling_windows: [3], include_lags: false },
      {
        headers: { accept: ARROW },
        answerHeaders: { 'content-type': ARROW },
        contains: ['v_rolling_mean_3'],
      },
    ),
    get('after a restart everything is there', '/buffers/b', async (body) => {
      assert.equal(body.append_count, 18);
      await restart();
    }),
    get('it is', '/buffers/b/data?tail=1', (body) => assert.deepEqual(body.data, [{ v: 11, name: null, late: null, q: 'say "x", or\n2' }])),
    get('all buffers', '/buffers', ({ data, total }) => {
      assert.deepEqual(
        data.map(({ buffer_id, size, append_count }: Record<string, unknown>) => [buffer_id, size, append_count]),
        [
          ['b', 10, 18],
          ['wide', 0, 0],
        ],
      );
      assert.equal(total, 2);
    }),
    {
      name: 'clearing',
      method: 'POST',
      path: `${base}/buffers/b/clear`,
      json: (body) => assert.deepEqual(body, { cleared: true, buffer_id: 'b', size: 0 }),
    },
    append('a cleared column may hold something else', { v: 'a text' }),
    get('it counts anew', '/buffers/b', (body) => assert.deepEqual([body.append_count, body.numeric_columns], [1, []])),
    {
      name: 'deleting',
      method: 'DELETE',
      path: `${base}/buffers/b`,
      json: (body) => assert.deepEqual(body, { deleted: true, buffer_id: 'b' }),
    },
    ...[
      ['GET', '/buffers/b'],
      ['DELETE', '/buffers/b'],
      ['POST', '/buffers/b/clear'],
      ['GET', '/buffers/b/data'],
    ].map(
      ([method, path]): Scenario => ({
        name: `a deleted buffer: ${method} ${path}`,
        method: method!,
        path: base + path!,
        status: 404,
        contains: ['Buffer', 'not found', 'create it'],
      }),
    ),
    append('appending to it', { v: 1 }, { status: 404 }),
    post('its features', '/features', { buffer_id: 'b' }, { status: 404 }),
    get('a path for a name', '/buffers/%3Cx%3E', { status: 400 }),
    post('its name is free', '/buffers', { buffer_id: 'b', window_size: null }, (body) => assert.equal(body.window_size, 1000)),
    get('it is empty', '/buffers/b', async (body) => {
      assert.equal(body.append_count, 0);
      await restart();
    }),
    get('also after a restart', '/buffers/b', (body) => assert.equal(body.append_count, 0)),
  ];
}

for (const [title, endpoints, base] of [
  ['the data buffers of the core', coreEndpoints, '/v1/ml/polars'],
  ['the data buffers of the runtime', universalEndpoints, '/v1/polars'],
] as const) {
  const stage = tablesStage();
  scenarios(title, { endpoints, context: stage.context, close: stage.close }, tableOf(base, stage.restart));
}

it('serves the same endpoints under /polars/ on both ports', () => {
  const idsOf = (endpoints: typeof coreEndpoints): string[] =>
    endpoints.filter(({ path }) => path.includes('/polars/')).map(({ id }) => id);
  assert.deepEqual(idsOf(universalEndpoints), [
    'create_buffer',
    'list_buffers',
    'get_buffer',
    'delete_buffer',
    'clear_buffer',
    'append_to_buffer',
    'buffer_features',
    'buffer_data',
  ]);
  assert.deepEqual(idsOf(coreEndpoints), [
    'ml_create_buffer',
    'ml_list_buffers',
    'ml_get_buffer',
    'ml_delete_buffer',
    'ml_clear_buffer',
    'ml_append_to_buffer',
    'ml_buffer_features',
    'ml_buffer_data',
  ]);
});

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { coreEndpoints } from '../../gateway/core/index.js';
import { dispatch } from '../../gateway/http/dispatch.js';
import type { Application } from '../../gateway/http/transport.js';
import { universalEndpoints } from '../../gateway/universal/index.js';
import { type BadBody, badBodies, oddBodies, type Shape } from '../support/bad-values.js';
import type { Answer } from '../support/exchange.js';
import { openMl } from '../support/ml-stage.js';
import { send } from '../support/scenario.js';
import { schemaFile } from '../support/schema-file.js';

const ML = /^\/v1\/(?:ml\/)?(?:anomaly|classifier|polars)\b/;
const ROWS = [
  [1, 2],
  [3, 4],
  [5, 7],
];
const EXAMPLES = [
  { text: 'tea is hot', label: 'drink' },
  { text: 'bread is fresh', label: 'food' },
];
const NAMED = { model: 'm', backend: 'hbos', normalization: 'raw' };
const ROLLING = { rolling_windows: [3], include_rolling_stats: ['mean'], include_lags: true, lag_periods: [1] };
/** A body with every member, by the schema of an endpoint; they work in this order. */
const VALID: Record<string, object> = {
  'universal/anomaly#FitRequest': {
    ...NAMED,
    data: ROWS.map(([a, b]) => ({ a, b })),
    schema: { a: 'numeric', b: 'numeric' },
    contamination: 0.1,
    epochs: 2,
    batch_size: 2,
    overwrite: true,
    description: 'd',
    polars_config: { enabled: true, ...ROLLING },
  },
  'universal/anomaly#ScoreRequest': {
    ...NAMED,
    data: ROWS,
    schema: { a: 'numeric' },
    threshold: 0.5,
    explain: true,
    feature_names: ['a', 'b'],
  },
  'universal/anomaly#SaveRequest': { ...NAMED, description: 'd' },
  'universal/anomaly#LoadRequest': NAMED,
  'universal/streams#StreamRequest': {
    model: 's',
    data: [{ a: 1 }],
    backend: 'hbos',
    min_samples: 10,
    retrain_interval: 10,
    window_size: 50,
    contamination: 0.1,
    threshold: 0.5,
    normalization: 'raw',
    rolling_windows: [3],
    include_lags: true,
    lag_periods: [1],
    schema: { a: 'numeric' },
  },
  'universal/classifiers#FitRequest': {
    model: 'c',
    base_model: 'quern-lexical',
    training_data: EXAMPLES,
    num_iterations: 1,
    batch_size: 1,
    seed: 1,
    overwrite: true,
  },
  'universal/classifiers#PredictRequest': { model: 'c', texts: ['tea'], threshold: 0.1 },
  'universal/classifiers#SaveRequest': { model: 'c', description: 'd' },
  'universal/classifiers#LoadRequest': { model: 'c' },
  'universal/buffers#CreateRequest': { buffer_id: 'b', window_size: 10 },
  'universal/buffers#AppendRequest': { buffer_id: 'b', data: [{ a: 1, t: 'x' }] },
  'universal/buffers#FeaturesRequest': { buffer_id: 'b', ...ROLLING, roc_periods: [1], ewm_spans: [2], tail: 2 },
};
/** Bodies that are no JSON, or no object, or larger or deeper than any. */
const NO_BODIES = [
  '',
  '{',
  'null',
  '[]',
  '"x"',
  '1',
  'NaN',
  '{"data":[NaN]}',
  '{"model":Infinity}',
  '{"data":1}{',
  '{"data":[1],}',
  "{'data':[1]}",
  '['.repeat(100_000),
  `{"data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
  Buffer.from([0x7b, 0xff, 0xfe, 0x7d]),
];
/** What a message calls a member that it does not name as the request does. */
const CALLED: Record<string, RegExp> = {
  buffer_id: /buffer/i,
  model: /model|detector|classifier/i,
  data: /data|row/i,
  base_model: /model/i,
};

const HEADERS = { 'content-type': 'application/json' };
const ports = { core: coreEndpoints, universal: universalEndpoints } as const;

for (const [port, list] of Object.entries(ports))
  describe(`bad input for classical ML on the ${port} port`, () => {
    const endpoints = list.filter(({ path }) => ML.test(path));
    const taking = endpoints.filter(({ body }) => body !== undefined);
    taking.sort((a, b) => Object.keys(VALID).indexOf(a.body!) - Object.keys(VALID).indexOf(b.body!));
    let stage: Awaited<ReturnType<typeof openMl>>;
    let application: Application;
    const post = (path: string, body: unknown): Promise<Answer> => send(application, { method: 'POST', path, body, headers: HEADERS });

    before(async () => {
      stage = await openMl();
      application = dispatch({ endpoints, context: stage.runtime, access: { bindHost: '127.0.0.1' } } as never);
    });
    after(() => stage.close());

    const shown = ({ body, path }: BadBody): string => `${path.join('.')} in ${JSON.stringify(body).slice(0, 300)}`;
    const shapeOf = (name: string): [Shape, Record<string, Shape>] => {
      const [file, shape] = name.split('#') as [string, string];
      const { $defs } = schemaFile(`${file}.json`) as { $defs: Record<string, Shape> };
      return [$defs[shape]!, $defs];
    };
    const works = async (): Promise<void> => {
      for (const { path, body } of taking) {
        const answer = await post(path, VALID[body!]);
        const exists = answer.status === 409 && body === 'universal/buffers#CreateRequest';
        assert.ok(answer.status === 200 || exists, `${path}: ${answer.text.slice(0, 500)}`);
      }
    };

    it('a body with every member works everywhere', async () => {
      assert.deepEqual(
        taking.filter(({ body }) => !VALID[body!]),
        [],
      );
      for (const { body } of taking) assert.deepEqual(Object.keys(VALID[body!]!).sort(), Object.keys(shapeOf(body!)[0].properties!).sort());
      await works();
    });

    for (const { path: route, body: name } of taking) {
      it(`POST ${route} refuses each wrong value, and names its member`, async () => {
        const [shape, defs] = shapeOf(name!);
        let count = 0;
        for (const bad of badBodies(shape, VALID[name!], defs)) {
          const { status, text } = await post(route, JSON.stringify(bad.body));
          assert.equal(status, 422, `${status} for ${shown(bad)}: ${text.slice(0, 300)}`);
          const { detail, errors } = JSON.parse(text);
          const loc = ['body', ...bad.path].join('.');
          assert.ok(detail.includes(loc), `${loc} is not in ${detail}`);
          assert.ok(
            errors.some((one: { loc: string[] }) => one.loc.join('.').startsWith(loc)),
            `${loc} is not in ${text}`,
          );
          count += 1;
        }
        assert.ok(count >= 8, `${count} values`);
      });

      it(`POST ${route} takes odd values, or refuses them by their names`, async () => {
        const [shape, defs] = shapeOf(name!);
        for (const odd of oddBodies(shape, VALID[name!], defs)) {
          const { status, text } = await post(route, JSON.stringify(odd.body));
          assert.ok(status < 500, `${status} for ${shown(odd)}: ${text.slice(0, 300)}`);
          if (status < 400 || status === 409) continue;
          const [member] = odd.path as [string];
          const { detail } = JSON.parse(text);
          // What is nested too deep, or has this key or a very long one, is refused before its members are looked at.
          assert.match(
            detail,
            /nested|deep|__proto__|a member has a name/.test(detail) ? /./ : (CALLED[member] ?? new RegExp(member)),
            shown(odd),
          );
        }
      });

      it(`POST ${route} refuses what is no object of JSON`, async () => {
        for (const body of NO_BODIES) {
          const { status, text } = await post(route, body);
          assert.ok(status >= 400 && status < 500, `${status} for ${body.slice(0, 50)}: ${text.slice(0, 300)}`);
          assert.ok(JSON.parse(text).detail.length > 10);
        }
      });
    }

    it('numbers in a query are checked', async () => {
      const data = endpoints.find(({ path }) => path.endsWith('/data'))!.path.replace('{buffer_id}', 'b');
      for (const query of ['tail=NaN', 'tail=1e999', 'tail=1e308', 'tail=x', 'tail=1.5', 'tail=', 'with_features=maybe']) {
        const { status, text } = await send(application, { path: `${data}?${query}` });
        assert.deepEqual([status, text.includes(query.split('=')[0]!)], [422, true], `${query}: ${text}`);
      }
      for (const query of ['tail=-1', 'tail=0', 'tail=9007199254740993'])
        assert.equal((await send(application, { path: `${data}?${query}` })).status, 200, query);
    });

    it('odd names in paths end in no failure of the daemon', async () => {
      const named = endpoints.filter(({ path, body }) => path.includes('{') && body === undefined);
      assert.ok(named.length >= 7);
      for (const { method, path } of named)
        for (const name of ['..', '%2e%2e%2fx', '%00', 'a%2fb', '%', '%ff', 'x'.repeat(5_000), '__proto__', 'constructor', '-latest']) {
          const { status, text } = await send(application, { method, path: path.replace(/\{\w+\}/, name) });
          assert.ok(status < 500, `${method} ${path} ${name.slice(0, 50)}: ${status} ${text.slice(0, 300)}`);
        }
    });

    it('works as before afterwards', works);
  });

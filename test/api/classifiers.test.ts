import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { coreEndpoints } from '../../gateway/core/index.js';
import { dispatch } from '../../gateway/http/dispatch.js';
import type { Application } from '../../gateway/http/transport.js';
import { universalEndpoints } from '../../gateway/universal/index.js';
import { Models } from '../../runtime/models/residency/models.js';
import { Outbound } from '../../runtime/net/outbound.js';
import type { Runtime } from '../../runtime/runtime.js';
import { textSet } from '../support/classifiers/sets.js';
import { writeTinyEncoders } from '../support/models/tiny-encoders.js';
import { type Scenario, type Stage, scenarios, send } from '../support/scenario.js';
import { openSomeServices } from '../support/services.js';

interface Staged extends Runtime {
  readonly folder: string;
}

/** A runtime with nothing but encoders and classifiers, in an own data directory. */
function open(): Staged {
  const folder = mkdtempSync(join(tmpdir(), 'quern-classifiers-'));
  writeTinyEncoders(join(folder, 'models'));
  const models = new Models({ dataDir: folder, places: { hub: join(folder, 'no-hub') } });
  const outbound = new Outbound();
  const { close: closeServices, ...services } = openSomeServices({ dataDir: folder, models, outbound });
  const close = async (): Promise<void> => {
    await closeServices();
    await models.close();
    await outbound.close();
  };
  return { version: '0.0.0', folder, models, ...services, close } as unknown as Staged;
}

async function closed(runtime: Staged): Promise<void> {
  await runtime.close();
  rmSync(runtime.folder, { recursive: true, force: true });
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Body = any;

const { train, heldOut } = textSet('intents');
const { train: few } = textSet('intents', 2);
const LABELS = ['book_table', 'play_music', 'set_alarm', 'transfer_money', 'weather'];
const TWO = [
  { text: 'tea is hot', label: 'drink' },
  { text: 'bread is fresh', label: 'food' },
];
const lines = (path: string): string[] => readFileSync(join(path, 'labels.txt'), 'utf8').trimEnd().split('\n');

/** The rows of one port; both serve the same under other paths. */
function table(root: string): Scenario[] {
  const post = (path: string, body: unknown, more: Partial<Scenario> = {}): Scenario => ({
    name: `${path} ${more.status ?? 200} ${JSON.stringify(body).slice(0, 90)}`,
    method: 'POST',
    path: `${root}/${path}`,
    body,
    ...more,
  });
  const refused = (path: string, body: unknown, status: number, contains: readonly string[], name?: string): Scenario =>
    post(path, body, { status, contains, lacks: ['/home/', 'node:internal'], ...(name ? { name } : {}) });
  const fit = (data: unknown, more: object = {}): object => ({ model: 'x', training_data: data, ...more });
  const remove = (name: string, status: number, contains: readonly string[]): Scenario => ({
    name: `DELETE ${name} ${status}`,
    method: 'DELETE',
    path: `${root}/models/${encodeURIComponent(name)}`,
    status,
    contains,
  });
  const seen: { version?: string; first?: Body } = {};
  return [
    { name: 'no models yet', path: `${root}/models`, json: ({ data, total }: Body) => assert.deepEqual([data, total], [[], 0]) },
    post(
      'fit',
      { model: 'intents', training_data: train, overwrite: false },
      {
        name: '76 a fit without overwrite makes a version, and says what it is worth',
        json: (body: Body) => {
          assert.match(body.model, /^intents_\d{8}_\d{6}$/);
          assert.deepEqual(
            [body.object, body.status, body.base_name, body.versioned_name],
            ['fit_result', 'fitted', 'intents', body.model],
          );
          assert.deepEqual([body.samples_fitted, body.num_classes, body.labels, body.overwrite], [80, 5, LABELS, false]);
          assert.deepEqual([body.auto_saved, body.base_model, body.embedder], [true, 'all-MiniLM-L6-v2', 'quern-tfidf']);
          assert.match(body.notes[0], /all-MiniLM-L6-v2 is not on this machine.*quern pull/);
          const { folds, accuracy, labels } = body.cross_validation;
          assert.equal(folds, 4);
          assert.ok(accuracy > 0.4 && accuracy < 0.9);
          assert.deepEqual(Object.keys(labels), LABELS);
          for (const [label, one] of Object.entries<Body>(labels)) {
            assert.equal(one.support, 16);
            const given = Object.entries<number>(one.given);
            assert.ok(given.every(([other]) => LABELS.includes(other)));
            assert.ok(Math.abs(given.reduce((sum, [, samples]) => sum + samples, 0) - 16) < 1e-6, label);
            assert.ok(Math.abs((one.given[label] ?? 0) / 16 - one.recall) < 1e-6, label);
          }
          assert.deepEqual(lines(body.saved_path), LABELS);
          seen.version = body.model;
        },
      },
    ),
    post(
      'predict',
      { model: 'intents-latest', texts: heldOut.map(({ text }) => text) },
      {
        name: '76 predict by -latest finds it and is right mostly',
        json: (body: Body) => {
          assert.deepEqual([body.object, body.total_count, body.model], ['list', 200, seen.version]);
          const right = body.data.filter((row: Body, at: number) => row.label === heldOut[at]!.label).length;
          assert.ok(right >= 140, `${right} of 200`);
          for (const [at, row] of body.data.entries()) {
            assert.deepEqual([row.text, Object.keys(row.all_scores), row.score], [heldOut[at]!.text, LABELS, row.all_scores[row.label]]);
            const scores = Object.values<number>(row.all_scores);
            assert.ok(Math.abs(scores.reduce((sum, one) => sum + one, 0) - 1) < 1e-4);
            assert.equal(row.score, Math.max(...scores));
            assert.ok(!('abstained' in row));
          }
          seen.first = body.data[0];
        },
      },
    ),
    post(
      'predict',
      { model: 'intents-latest', texts: [heldOut[0]!.text, 'zzz qqq'], threshold: 0.999 },
      {
        name: 'below the threshold it abstains and says so',
        json: (body: Body) => {
          for (const row of body.data) assert.deepEqual([row.label, row.abstained, Object.keys(row.all_scores)], [null, true, LABELS]);
          assert.equal(body.data[0].score, seen.first.score);
        },
      },
    ),
    post(
      'predict',
      { model: 'intents-latest', texts: [heldOut[0]!.text], threshold: 0 },
      {
        json: ({ data }: Body) => assert.deepEqual([data[0].label, data[0].abstained], [seen.first.label, false]),
      },
    ),
    post(
      'fit',
      { model: 'intents', training_data: train, overwrite: false },
      {
        name: 'a second version does not replace the first',
        json: ({ model }: Body) => {
          assert.notEqual(model, seen.version);
          assert.match(model, /^intents_/);
        },
      },
    ),
    post(
      'fit',
      { model: 'intents', training_data: train, overwrite: true },
      {
        name: 'with overwrite the name is taken as it is',
        json: ({ model, overwrite }: Body) => assert.deepEqual([model, overwrite], ['intents', true]),
      },
    ),
    post(
      'predict',
      { model: 'intents-latest', texts: [heldOut[0]!.text] },
      {
        name: 'the same examples and seed make the same classifier',
        json: ({ data: [row] }: Body) => assert.deepEqual(row, seen.first),
      },
    ),
    post(
      'fit',
      { model: 'plain', training_data: train },
      {
        name: 'a fit makes a version unless it says otherwise',
        json: ({ overwrite, model }: Body) => assert.deepEqual([overwrite, model === 'plain'], [false, false]),
      },
    ),
    post(
      'predict',
      { model: 'plain', texts: [heldOut[0]!.text] },
      {
        name: 'a name that has only versions means the newest of them',
        json: ({ model, data }: Body) => assert.deepEqual([model.startsWith('plain'), data.length], [true, 1]),
      },
    ),
    post(
      'fit',
      { model: 'tiny', training_data: TWO, base_model: 'tiny/embedder', overwrite: true },
      {
        name: 'one example of each of two labels, on a named model',
        json: (body: Body) => {
          assert.deepEqual(
            [body.embedder, body.base_model, body.cross_validation, body.projection_used],
            ['tiny/embedder', 'tiny/embedder', null, false],
          );
          assert.deepEqual(body.notes, []);
        },
      },
    ),
    post(
      'predict',
      { model: 'tiny', texts: ['tea is hot', 'bread is fresh'] },
      {
        json: ({ data }: Body) =>
          assert.deepEqual(
            data.map(({ label }: Body) => label),
            ['drink', 'food'],
          ),
      },
    ),
    post(
      'save',
      { model: 'tiny', description: 'drinks and food' },
      {
        json: ({ path, ...rest }: Body) => {
          assert.deepEqual(rest, {
            object: 'save_result',
            model: 'tiny',
            is_fitted: true,
            labels: ['drink', 'food'],
            num_classes: 2,
            status: 'saved',
          });
          assert.deepEqual(lines(path), ['drink', 'food']);
        },
      },
    ),
    post('save', { model: 'tiny' }, { name: 'save again changes nothing', contains: ['"saved"'] }),
    post(
      'load',
      { model: 'tiny' },
      {
        json: ({ path, ...rest }: Body) => {
          assert.deepEqual(rest, {
            object: 'load_result',
            model: 'tiny',
            is_fitted: true,
            labels: ['drink', 'food'],
            num_classes: 2,
            status: 'loaded',
          });
          assert.ok(existsSync(path));
        },
      },
    ),
    post('load', { model: 'intents-latest' }, { json: ({ model }: Body) => assert.equal(model, 'intents') }),
    {
      name: 'the list is newest first, with versions and descriptions',
      path: `${root}/models`,
      json: ({ object, data, total, models_dir: folder }: Body) => {
        assert.deepEqual([object, total, data.length], ['list', 5, 5]);
        const { created, modified, path, ...tiny } = data[0];
        assert.deepEqual(tiny, {
          name: 'tiny',
          base_name: 'tiny',
          labels: ['drink', 'food'],
          num_classes: 2,
          is_versioned: false,
          description: 'drinks and food',
        });
        assert.equal(new Date(created).getTime(), Math.floor(modified * 1000));
        assert.equal(path, join(folder, 'tiny'));
        const times = data.map((one: Body) => one.modified);
        assert.deepEqual(
          times,
          [...times].sort((a: number, b: number) => b - a),
        );
        const versions = data.filter((one: Body) => one.base_name === 'intents' && one.is_versioned);
        assert.equal(versions.length, 2);
      },
    },
    post('fit', fit([...TWO, { text: 'water', label: '__proto__' }, { text: 'cake', label: 'constructor' }]), {
      name: 'labels may be called like members of an object',
      json: ({ labels }: Body) => assert.deepEqual(labels, ['__proto__', 'constructor', 'drink', 'food']),
    }),
    post('predict', { model: 'x-latest', texts: ['water'] }, { contains: ['"__proto__":'] }),
    remove('tiny', 200, ['"deleted":true', '"status":"deleted"', '"delete_result"']),
    remove('tiny', 404, ['tiny', 'intents']),
    refused('predict', { model: 'tiny', texts: ['x'] }, 404, ['tiny', 'intents']),
    // The router itself lets no such name through.
    ...['..', 'a/b', 'a\\b'].map((name) => remove(name, 404, ['Not Found'])),
    remove('a..b', 400, ['a..b']),
    remove('.hidden', 400, ['.hidden']),
    // Bad input.
    refused('fit', fit([]), 400, ['0 examples', 'at least 2']),
    refused('fit', fit(TWO.slice(1)), 400, ['1 examples', 'at least 2']),
    refused('fit', fit([TWO[0], { text: 'coffee', label: 'drink' }]), 400, ['All 2 examples', 'drink', 'two labels']),
    refused('fit', fit([...TWO, { text: '  ', label: 'food' }]), 422, ['training_data[2].text', 'empty']),
    refused('fit', fit([{ text: 'x', label: ' ' }, ...TWO]), 422, ['training_data[0].label', 'empty']),
    refused('fit', fit([...TWO, { text: 'x', label: 'a\nb' }]), 422, ['training_data[2].label', 'a\\\\nb']),
    refused('fit', fit([...TWO, { text: 7, label: 'food' }]), 422, ['training_data', '2', 'text']),
    refused('fit', fit([...TWO, { text: 'x', label: null }]), 422, ['training_data', 'label']),
    refused('fit', fit([...TWO, 'x']), 422, ['training_data']),
    refused('fit', fit('x'), 422, ['training_data']),
    refused('fit', { model: 'x' }, 422, ['training_data']),
    refused('fit', { training_data: TWO }, 422, ['model']),
    refused('fit', fit([...TWO, { text: 'x'.repeat(100_001), label: 'a' }]), 422, ['training_data', '100000'], 'a text that is too long'),
    refused('fit', fit(Array(20_001).fill(TWO[0])), 422, ['training_data', '20000'], 'too many examples'),
    refused(
      'fit',
      fit(Array.from({ length: 1001 }, (_none, at) => ({ text: 'x', label: `l${at}` }))),
      422,
      ['at most 1000'],
      'too many labels',
    ),
    refused(
      'fit',
      fit(Array.from({ length: 11_000 }, (_none, at) => ({ text: 'x', label: `l${at % 100}` }))),
      422,
      ['11000 examples', '100 labels'],
      'too many examples for so many labels',
    ),
    refused('fit', fit([{ text: 'x'.repeat(34 * 1024 * 1024), label: 'a' }]), 413, ['33554432'], 'a body over the limit'),
    refused('fit', fit(TWO, { num_iterations: 0 }), 422, ['num_iterations']),
    refused('fit', fit(TWO, { batch_size: 1.5 }), 422, ['batch_size']),
    refused('fit', fit(TWO, { base_model: 'nobody/nothing' }), 404, ['ModelNotFound', 'quern pull nobody/nothing']),
    refused('fit', fit(TWO, { base_model: 'all-MiniLM-L6-v2' }), 404, ['quern pull']),
    refused('fit', fit(TWO, { base_model: '../etc' }), 400, ['InvalidModelName']),
    refused('fit', fit(TWO, { model: '../x' }), 400, ['../x']),
    refused('fit', fit(TWO, { model: 'a/b' }), 400, ['a/b']),
    refused('fit', fit(TWO, { model: '' }), 400, ['empty']),
    refused('fit', fit(TWO, { model: '.x' }), 400, ['.x']),
    refused('fit', fit(TWO, { model: 'x-latest' }), 400, ['-latest']),
    refused('predict', { model: 'never', texts: ['x'] }, 404, ['never']),
    refused('predict', { model: 'never-latest', texts: ['x'] }, 404, ['never-latest']),
    refused('predict', { model: '../x', texts: ['x'] }, 400, ['../x']),
    refused('predict', { model: 'intents', texts: [] }, 422, ['texts']),
    refused('predict', { model: 'intents', texts: ['x', ' '] }, 422, ['texts[1]', 'empty']),
    refused('predict', { model: 'intents', texts: ['x', 1] }, 422, ['texts']),
    refused('predict', { model: 'intents', texts: 'x' }, 422, ['texts']),
    refused('predict', { model: 'intents', texts: ['x'], threshold: 2 }, 422, ['threshold']),
    refused('predict', { model: 'intents', texts: Array(10_001).fill('x') }, 422, ['texts', '10000'], 'too many texts'),
    refused('save', { model: 'never' }, 404, ['never']),
    refused('save', { model: '..' }, 400, ['..']),
    refused('load', { model: 'never' }, 404, ['never', 'intents']),
    refused('load', {}, 422, ['model']),
    {
      name: 'what was refused has left nothing',
      path: `${root}/models`,
      json: ({ data, models_dir: folder }: Body) => assert.deepEqual(readdirSync(folder).sort(), data.map(({ name }: Body) => name).sort()),
    },
  ];
}

const stage = (endpoints: Stage<Staged>['endpoints']): Stage<Staged> => ({ endpoints, context: open, close: closed });
scenarios('classifiers of the universal runtime', stage(universalEndpoints), table('/v1/classifier'));
scenarios('classifiers of the core', stage(coreEndpoints), table('/v1/ml/classifier'));

/** What both ports serve; the core's ids begin with `ml_`. */
const IDS = {
  universal: [
    'classifier_fit',
    'classifier_predict',
    'classifier_save',
    'classifier_load',
    'list_classifier_models',
    'delete_classifier_model',
  ],
  core: [
    'ml_classifier_fit',
    'ml_classifier_predict',
    'ml_classifier_save',
    'ml_classifier_load',
    'ml_list_classifier_models',
    'ml_delete_classifier_model',
  ],
};

it('the ports serve the endpoints of the tables, and no others', () => {
  const ids = (endpoints: readonly { id: string }[]): string[] => endpoints.map(({ id }) => id).filter((id) => /classifier/.test(id));
  assert.deepEqual({ universal: ids(universalEndpoints), core: ids(coreEndpoints) }, IDS);
});

describe('classifiers and what can happen to them', () => {
  let runtime: Staged;
  let application: Application;
  const start = (): void => {
    application = dispatch({ endpoints: universalEndpoints, context: runtime, access: { bindHost: '127.0.0.1' } });
  };
  before(() => {
    runtime = open();
    start();
  });
  after(() => closed(runtime));
  const post = (path: string, body: unknown): ReturnType<typeof send> =>
    send(application, { method: 'POST', path: `/v1/classifier/${path}`, headers: {}, body });
  const fit = (model: string, more: object = {}): ReturnType<typeof send> =>
    post('fit', { model, training_data: few, overwrite: true, ...more });
  const file = (name: string, part: string): string => join(runtime.folder, 'models/classifier', name, part);

  it('says that a classifier is being fitted, fits a few at a time, and refuses more', async () => {
    const fits = Array.from({ length: 8 }, (_none, at) => fit(`many${at}`));
    const early = await post('predict', { model: 'many0', texts: ['x'] });
    assert.deepEqual([early.status, /being fitted/.test(early.text)], [400, true], early.text);
    const answers = await Promise.all(fits);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 200, 200, 200, 200, 503, 503]);
    assert.match(answers.find(({ status }) => status === 503)!.text, /Too many classifier fits: 2 are running and 4 wait/);
  });

  it('refuses a classifier with a changed byte in any of its files', async () => {
    for (const part of ['head.bin', 'labels.txt', 'metadata.json']) {
      await fit('flipped');
      const bytes = readFileSync(file('flipped', part));
      for (const at of [10, Math.floor(bytes.length / 2)]) {
        const changed = Buffer.from(bytes);
        changed[at]! ^= 4;
        writeFileSync(file('flipped', part), changed);
        const answer = await post('load', { model: 'flipped' });
        assert.equal(answer.status, 500, `${part} at ${at}: ${answer.text}`);
        assert.match(answer.text, /DamagedModel.*flipped.*is damaged.*Fit it again/);
      }
      writeFileSync(file('flipped', part), bytes.subarray(0, 5));
      assert.equal((await post('load', { model: 'flipped' })).status, 500);
      rmSync(file('flipped', part));
      assert.ok([404, 500].includes((await post('load', { model: 'flipped' })).status));
      // What is in memory still answers, and can be saved again.
      assert.equal((await post('predict', { model: 'flipped', texts: ['x'] })).status, 200);
    }
  });

  it('notices other weights under the name of its embedder', async () => {
    await fit('moved', { base_model: 'tiny/embedder', training_data: TWO });
    const asked = { model: 'moved', texts: ['tea'] };
    assert.equal((await post('predict', asked)).status, 200);
    const card = JSON.parse(readFileSync(file('moved', 'metadata.json'), 'utf8'));
    assert.equal(Buffer.from(card.probe, 'base64').length, 4 * card.dimensions);
    const { checksum: _checksum, ...facts } = card;
    const other = Buffer.from(Float32Array.from({ length: card.dimensions }, (_none, at) => Math.sin(at)).buffer).toString('base64');
    const changed = { ...facts, probe: other };
    const checksum = createHash('sha256').update(JSON.stringify(changed)).digest('hex');
    writeFileSync(file('moved', 'metadata.json'), JSON.stringify({ ...changed, checksum }));
    assert.equal((await post('load', { model: 'moved' })).status, 200);
    const answer = await post('predict', asked);
    assert.deepEqual([answer.status, /EmbedderChanged.*tiny\/embedder.*"?moved/.test(answer.text)], [500, true], answer.text);
  });

  it('saves what is in memory again where its directory went', async () => {
    await fit('lost');
    rmSync(file('lost', ''), { recursive: true });
    assert.equal((await post('load', { model: 'lost' })).status, 404);
    assert.equal((await post('save', { model: 'lost' })).status, 200);
    assert.equal((await post('load', { model: 'lost' })).status, 200);
  });

  it('saves nothing when it is closed during a fit, and answers the rest from disk afterwards', async () => {
    const asked = { model: 'lost', texts: [heldOut[0]!.text, heldOut[99]!.text] };
    const first = await post('predict', asked);
    const large = Array.from({ length: 4000 }, (_none, at) => ({ text: `${train[at % 80]!.text} ${at}`, label: train[at % 80]!.label }));
    const running = post('fit', { model: 'interrupted', training_data: large, overwrite: true });
    await new Promise((resolve) => setTimeout(resolve, 300));
    const { folder } = runtime;
    await runtime.close();
    assert.equal((await running).status, 503);
    const rest = open();
    const { close: closeAgain, ...services } = openSomeServices({ dataDir: folder, models: rest.models, outbound: new Outbound() });
    runtime = {
      ...rest,
      ...services,
      folder,
      close: async () => Promise.all([closeAgain(), rest.close()]),
    } as unknown as Staged;
    start();
    assert.deepEqual(JSON.parse((await post('predict', asked)).text), JSON.parse(first.text));
    assert.equal((await post('load', { model: 'interrupted' })).status, 404);
  });
});

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Body, heldOut, LABELS, lines, requests, TWO, train } from '../../support/classifiers/requests.js';
import type { Scenario } from '../../support/scenario.js';

/** Classifiers that learn, answer, are saved, listed, loaded and removed. */
export const fits = (root: string): Scenario[] => {
  const { post, refused, fit, remove, seen } = requests(root);
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
  ];
};

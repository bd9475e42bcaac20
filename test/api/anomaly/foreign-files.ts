import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { files, LOGINS, NORMAL, ODD, requests, shelf } from '../../support/anomaly/requests.js';
import type { Scenario } from '../../support/scenario.js';
import { version } from './versions.js';

export let flagged = 0;

/** Files that came from elsewhere, removal, and what the reference system's tests check. */
export const foreignFiles = (base: string): Scenario[] => {
  const { row, post, fit } = requests(base);
  return [
    // Files of others
    row(
      'load 422 hostile pickle',
      'load',
      () => {
        writeFileSync(shelf('hostile_ecod.pkl'), "cos\nsystem\n(S'touch owned'\ntR.");
        return { model: 'hostile', backend: 'ecod' };
      },
      { status: 422, contains: ['hostile_ecod.pkl', 'opcode GLOBAL at byte 0'] },
    ),
    post(
      'score',
      { model: 'hostile', backend: 'ecod', data: [ODD] },
      { status: 422, contains: ['hostile_ecod.pkl', 'opcode GLOBAL at byte 0'] },
    ),
    row(
      'load 422 half a file',
      'load',
      () => {
        writeFileSync(shelf('cut_ecod.pkl'), readFileSync(shelf('all_ecod.pkl')).subarray(0, 200));
        return { model: 'cut', backend: 'ecod' };
      },
      { status: 422, contains: ['cut_ecod.pkl'] },
    ),
    row(
      'load 422 a pickle of an empty dict',
      'load',
      () => {
        writeFileSync(shelf('plain_ecod.pkl'), Buffer.from('gAR9lC4=', 'base64'));
        return { model: 'plain', backend: 'ecod' };
      },
      { status: 422, contains: ['plain_ecod.pkl', 'no anomaly model'] },
    ),
    row(
      'load 422 the file of another backend',
      'load',
      () => {
        writeFileSync(shelf('moved_knn.pkl'), readFileSync(shelf('all_ecod.pkl')));
        return { model: 'moved', backend: 'knn' };
      },
      { status: 422, contains: ['moved_knn.pkl', 'ecod'] },
    ),
    row(
      'scores by a file that was copied in',
      'score',
      () => {
        writeFileSync(shelf('copy_ecod.pkl'), readFileSync(shelf('all_ecod.pkl')));
        return { model: 'copy', backend: 'ecod', data: [ODD] };
      },
      (body) => assert.deepEqual([body.model, body.data[0].is_anomaly], ['copy', true]),
    ),

    // Deleting
    ...['.hidden.pkl', 'a..b_ecod.pkl', 'a%20b.pkl', 'CON.pkl'].map(
      (filename): Scenario => ({
        name: `delete 400 ${filename}`,
        method: 'DELETE',
        path: `${base}/models/${filename}`,
        status: 400,
      }),
    ),
    ...['..%2Fx.pkl', '..', '%2e%2e%5cx.pkl', 'a%2Fb.pkl'].map(
      (filename): Scenario => ({
        name: `delete 404 ${filename} is no path`,
        method: 'DELETE',
        path: `${base}/models/${filename}`,
        status: 404,
      }),
    ),
    ...['nobody_ecod.pkl', 'all_ecod', 'all_ecod_encoder.json', 'all.metadata.json'].map(
      (filename): Scenario => ({
        name: `delete 404 ${filename}`,
        method: 'DELETE',
        path: `${base}/models/${filename}`,
        status: 404,
        contains: [filename],
      }),
    ),
    {
      name: 'deletes a model with its encoder and description',
      method: 'DELETE',
      path: () => `${base}/models/${version}_ecod.pkl`,
      json: (body) => {
        assert.deepEqual(body, { object: 'delete_result', filename: `${version}_ecod.pkl`, deleted: true });
        assert.deepEqual(
          files().filter((name) => name.startsWith(version)),
          [],
        );
      },
    },
    row('forgets a deleted model', 'score', () => ({ model: version, backend: 'ecod', data: LOGINS }), {
      status: 400,
      contains: ['Model not fitted'],
    }),
    {
      name: 'keeps the description of a name for its other backends',
      method: 'DELETE',
      path: `${base}/models/all_ecod.pkl`,
      json: () => assert.ok(files().includes('all.metadata.json')),
    },
    post('fit', fit({ polars_config: { enabled: true, rolling_windows: [3] } }), { contains: ['polars_config has no effect'] }),

    // What the reference system's tests check
    ...['ecod', 'hbos', 'isolation_forest'].flatMap((backend) => [
      row(`fits normal rows by ${backend}`, 'fit', { model: 'normal', backend, data: NORMAL, overwrite: true }),
      row(
        `scores (10, 10) above the mean of normal rows by ${backend}`,
        'score',
        { model: 'normal', backend, data: [...NORMAL, [10, 10]] },
        ({ data }) => {
          const scores = data.map((one: { score: number }) => one.score);
          for (const score of scores) assert.ok(score >= 0 && score <= 1, String(score));
          assert.ok(scores[100] > scores.slice(0, 100).reduce((a: number, b: number) => a + b) / 100);
        },
      ),
      ...[0.1, 0.9].map((threshold) =>
        row(
          `flags by ${backend} what is above ${threshold}`,
          'score',
          { model: 'normal', backend, data: NORMAL, threshold },
          ({ data, summary }) => {
            assert.deepEqual(
              [summary.threshold, summary.anomaly_count],
              [threshold, data.filter(({ score }: { score: number }) => score > threshold).length],
            );
            if (threshold === 0.1) flagged = summary.anomaly_count;
            else assert.ok(flagged >= summary.anomaly_count && flagged > 0, `${flagged}, ${summary.anomaly_count}`);
          },
        ),
      ),
    ]),
  ];
};

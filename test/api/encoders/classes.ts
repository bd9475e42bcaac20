import assert from 'node:assert/strict';
import { type Body, post, refused, TEXTS_LIMIT } from '../../support/encoders-stage.js';
import { NLI_LABELS } from '../../support/models/tiny-encoders.js';
import type { Scenario } from '../../support/scenario.js';
import { RERANKER } from './reranking.js';

const NLI = 'tiny/nli';
const total = (scores: Record<string, number>): number => Object.values(scores).reduce((sum, value) => sum + value, 0);

/** Rows on classes of texts, at one path. */
export const classifying = (path: string): Scenario[] => [
  post(
    path,
    { model: NLI, texts: ['the river has water', 'tea'] },
    {
      name: `37 ${path}: total_count, label and all scores`,
      json: (body: Body) => {
        assert.deepEqual([body.object, body.total_count, body.data.length], ['list', 2, 2]);
        for (const [index, row] of body.data.entries()) {
          assert.equal(row.index, index);
          assert.deepEqual(Object.keys(row.all_scores), NLI_LABELS);
          assert.ok(Math.abs(total(row.all_scores) - 1) < 1e-6);
          assert.equal(row.score, row.all_scores[row.label]);
          assert.equal(row.score, Math.max(...(Object.values(row.all_scores) as number[])));
        }
      },
    },
  ),
  post(
    path,
    { model: NLI, texts: ['the river has water'], labels: ['river', 'moon', 'dog'] },
    {
      name: `${path}: labels of the caller, against each other`,
      json: (body: Body) => {
        assert.deepEqual(Object.keys(body.data[0].all_scores), ['river', 'moon', 'dog']);
        assert.ok(Math.abs(total(body.data[0].all_scores) - 1) < 1e-6);
      },
    },
  ),
  post(
    path,
    { model: NLI, texts: ['the river has water'], labels: ['river', 'moon'], multi_label: true, hypothesis_template: 'it is {}' },
    {
      json: (body: Body) =>
        assert.ok(Object.values(body.data[0].all_scores).every((score) => (score as number) > 0 && (score as number) < 1)),
    },
  ),
  post(
    path,
    { model: NLI, input: 'the river has water', labels: ['river', 'moon', 'dog'] },
    {
      name: `${path}: one text as input`,
      json: (body) => assert.deepEqual([body.total_count, Object.keys(body.data[0].all_scores).sort()], [1, ['dog', 'moon', 'river']]),
    },
  ),
  post(
    path,
    { model: NLI, input: ['the river has water', 'tea'] },
    { name: `${path}: texts as input`, json: (body) => assert.equal(body.total_count, 2) },
  ),
  refused(
    path,
    { model: NLI, input: ['x'], texts: ['x'] },
    422,
    ['"detail":"body.texts: must not be given with what else is given"'],
    `${path}: texts and input`,
  ),
  refused(path, { model: NLI, input: [] }, 422, ['input'], `${path}: an empty input`),
  refused(path, { model: NLI }, 422, ['"detail":"body.texts: is required"'], `${path}: neither texts nor input`),
  refused(path, { model: NLI, texts: [] }, 422, ['texts', 'fewer than 1']),
  post(
    path,
    { model: NLI, texts: ['a cat sat on a mat'], max_length: 3 },
    { json: (body: Body) => assert.equal(body.usage.prompt_tokens, 3) },
  ),
  refused(path, { model: RERANKER, texts: ['x'], labels: ['a'] }, 400, ['entailment', 'labels']),
  post(path, { model: NLI, texts: ['tea'], labels: ['river'], hypothesis_template: null, multi_label: null }),
  refused(path, { model: 'lexical', texts: ['x'] }, 400, ['TaskNotSupported', 'embeddings only']),
  refused(path, { model: NLI, texts: ['x'], labels: [] }, 422, ['labels']),
  refused(path, { model: NLI, texts: ['x'], labels: ['a', 'a'] }, 422, ['labels']),
  refused(path, { model: NLI, texts: ['x'], labels: ['a'], hypothesis_template: 'none' }, 422, ['hypothesis_template']),
  refused(
    path,
    { model: NLI, texts: Array(TEXTS_LIMIT).fill('x'), labels: ['a', 'b', 'c'] },
    422,
    ['30000 pairs'],
    `${path}: too many pairs`,
  ),
  refused(path, { model: NLI, texts: 'x' }, 422, ['texts']),
  refused(path, { model: NLI, texts: ['x'], extra_body: { n_threads: 1e9 } }, 422, ['extra_body', 'n_threads']),
  refused(path, { model: NLI, texts: [1] }, 422, ['texts']),
  refused(path, { model: NLI, texts: ['x'], max_length: 0 }, 422, ['max_length']),
  refused(path, { model: 'tiny/gguf', texts: ['x'] }, 400, ['classifies']),
  refused(path, { model: 'no/classifier', texts: ['x'] }, 404, ['quern pull no/classifier']),
];

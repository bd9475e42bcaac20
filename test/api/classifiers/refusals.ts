import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { type Body, requests, TWO } from '../../support/classifiers/requests.js';
import type { Scenario } from '../../support/scenario.js';

/** Data, names and requests that are refused. */
export const refusals = (root: string): Scenario[] => {
  const { refused, fit } = requests(root);
  return [
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
};

import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { Failure } from '../../schemas/errors.js';
import type { FitResponse, ModelList, PredictResponse } from '../../schemas/generated/universal/classifiers.js';
import { withDaemon } from '../daemon/client.js';
import { type Call, type Run, textOf } from '../verb.js';
import { readRows } from './table-file.js';

const AT = '/v1/ml/classifier';
const SHOWN_CHARS = 60;

/** The texts of a call: its words, each line of a file, or each line of standard input. */
async function textsOf(call: Call): Promise<string[]> {
  const file = textOf(call, 'file');
  const words = call.words.slice(1);
  if (file === undefined && words.length > 0) return words;
  const lines = file === undefined ? (call.input.isTTY ? '' : await readAll(call.input)) : await readFile(file, 'utf8');
  const texts = lines.split('\n').filter((line) => line.trim() !== '');
  if (texts.length === 0)
    throw new Failure('bad_request', 'there is no text to classify: give texts as words, with --file, or on standard input.');
  return texts;
}

/** Puts texts into the classes of a trained classifier. */
export const classify: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const [model = ''] = call.words;
    const texts = await textsOf(call);
    await daemon.ask(`${AT}/load`, { json: { model } });
    const reply = await daemon.ask<PredictResponse>(`${AT}/predict`, { json: { model, texts } });
    return {
      result: reply,
      show: () =>
        call.out.table(
          ['CLASS', 'SCORE', 'TEXT'],
          reply.data.map(({ label, score, text }) => [label ?? '(none)', score.toFixed(3), text.slice(0, SHOWN_CHARS)]),
        ),
    };
  });

/** Trains a classifier on a table with the columns `text` and `label`. */
export const fitClassifier: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const [model = '', path = ''] = call.words;
    const rows = await readRows(path);
    const [text, label] = [textOf(call, 'text') ?? 'text', textOf(call, 'label') ?? 'label'];
    const without = rows.find((row) => row[text] === undefined || row[label] === undefined);
    if (without)
      throw new Failure(
        'invalid',
        `${path} needs the columns "${text}" and "${label}" and has ${Object.keys(without).join(', ')}: name others with --text and --label.`,
      );
    const training_data = rows.map((row) => ({ text: String(row[text]), label: String(row[label]) }));
    const base_model = textOf(call, 'base-model');
    const reply = await daemon.ask<FitResponse>(`${AT}/fit`, { json: { model, training_data, ...(base_model ? { base_model } : {}) } });
    return {
      result: reply,
      show: () => {
        const took = `${reply.samples_fitted} texts in ${reply.num_classes} classes, ${(reply.training_time_ms / 1000).toFixed(1)} s`;
        call.out.line(`trained ${reply.versioned_name}: ${took}`);
        for (const note of reply.notes) call.out.line(call.out.style('dim', note));
      },
    };
  });

/** The classifiers that were trained here. */
export const classifiers: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const list = await daemon.ask<ModelList>(`${AT}/models`);
    return {
      result: list,
      show: () => {
        if (list.data.length === 0) return call.out.line('none yet; "quern classify fit NAME FILE.csv" trains one');
        return call.out.table(
          ['CLASSIFIER', 'CLASSES', 'TRAINED'],
          list.data.map(({ name, labels, created }) => [name, labels.join(', '), created]),
        );
      },
    };
  });

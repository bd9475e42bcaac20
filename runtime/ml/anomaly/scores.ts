import { Failure } from '../../../schemas/errors.js';
import type { ScoreAsk, ScoreResult } from './contract.js';
import { MAX_EXPLAINED } from './limits.js';
import type { HeldModel } from './memory.js';
import type { Rows } from './rows.js';

/** Scores rows block by block. Throws `bad_request` for rows of another width than the fit's, `too_large` for an explanation without end. */
export async function scoreRows(held: HeldModel, ask: ScoreAsk, rows: Rows, signal: AbortSignal): Promise<ScoreResult> {
  const { model, name } = held;
  const { columns } = model;
  if (rows.columns !== columns) {
    throw new Failure('bad_request', `data: the rows have ${rows.columns} columns; the model "${name}" was fitted with ${columns}.`);
  }
  const names = ask.explain ? namesOf(held, ask) : undefined;
  if (names && rows.count * columns > MAX_EXPLAINED) {
    const figures = `${rows.count} rows of ${columns} columns are ${rows.count * columns} contributions; ${MAX_EXPLAINED} are allowed`;
    throw new Failure('too_large', `The explanation is too large: ${figures}. Explain fewer rows.`);
  }
  const raw = new Float64Array(rows.count);
  const scores = new Float64Array(rows.count);
  const contributions = names && new Float64Array(rows.count * columns);
  let row = 0;
  for await (const block of rows.blocks()) {
    signal.throwIfAborted();
    const [scored, explained] = await Promise.all([model.score(block), contributions && model.explain(block)]);
    raw.set(scored.raw, row);
    scores.set(scored.scores, row);
    if (contributions && explained) contributions.set(explained, row * columns);
    row += scored.raw.length;
  }
  const explanation = names && contributions && { names, contributions };
  return { model: name, threshold: thresholdOf(held, ask), raw, scores, explanation };
}

/** The answer to no rows at all. */
export function noScores(held: HeldModel, ask: ScoreAsk): ScoreResult {
  return { model: held.name, threshold: thresholdOf(held, ask), raw: new Float64Array(0), scores: new Float64Array(0) };
}

/** 0 counts as absent, as in the reference system. */
function thresholdOf({ model }: HeldModel, { threshold }: ScoreAsk): number {
  return threshold || model.threshold;
}

function namesOf({ model, encoder }: HeldModel, { featureNames }: ScoreAsk): readonly string[] {
  const names = featureNames ?? encoder?.features ?? Array.from({ length: model.columns }, (_none, index) => `feature_${index}`);
  if (names.length === model.columns) return names;
  throw new Failure('bad_request', `feature_names has ${names.length} names; the model has ${model.columns} columns.`);
}

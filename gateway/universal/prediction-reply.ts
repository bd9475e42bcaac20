import { breathe } from '../../runtime/base/loop.js';
import type { Predictions } from '../../runtime/ml/classifiers/contract.js';
import type { Reply } from '../../schemas/endpoint.js';

/** Digits behind the point of a probability: it is not known better than that. */
const PLACES = 1e6;

/** Predictions as JSON text; thousands of rows are written a few at a time, so that other requests go on meanwhile. */
export async function predictionsReply(
  { model, labels, probabilities }: Predictions,
  texts: readonly string[],
  threshold: number | undefined,
  signal: AbortSignal,
): Promise<Reply> {
  const rows: string[] = [];
  for (const [index, text] of texts.entries()) {
    const own = probabilities.subarray(index * labels.length, (index + 1) * labels.length);
    const scores = Array.from(own, (score) => Math.round(score * PLACES) / PLACES);
    const best = own.indexOf(Math.max(...own));
    const score = scores[best]!;
    const isUnsure = threshold !== undefined && score < threshold;
    rows.push(
      JSON.stringify({
        text,
        label: isUnsure ? null : labels[best],
        score,
        all_scores: Object.fromEntries(labels.map((label, at) => [label, scores[at]])),
        ...(threshold === undefined ? {} : { abstained: isUnsure }),
      }),
    );
    await breathe();
    signal.throwIfAborted();
  }
  const bytes = `{"object":"list","data":[${rows.join(',')}],"total_count":${texts.length},"model":${JSON.stringify(model)}}`;
  return { bytes, contentType: 'application/json' };
}

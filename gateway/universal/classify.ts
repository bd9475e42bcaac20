import type { Scores, ZeroShot } from '../../runtime/encoders/contract.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type Endpoint, endpoint, type Reply, type Request } from '../../schemas/endpoint.js';
import type { Classification, ClassifyRequest, ClassifyResponse } from '../../schemas/generated/universal/encoders.js';
import { askOf, TEXTS_BYTES, textsOf, usageOf } from './encoder-asks.js';

/** The sentence of a label, as in Python's pipeline of transformers. */
const HYPOTHESIS = 'This example is {}.';

function zeroShotOf({ labels, hypothesis_template: hypothesis, multi_label: multiLabel }: ClassifyRequest): ZeroShot | undefined {
  return labels ? { labels, hypothesis: hypothesis ?? HYPOTHESIS, multiLabel: multiLabel === true } : undefined;
}

function classification(scores: Scores, index: number): Classification {
  const [label, score] = Object.entries(scores).reduce((best, one) => (one[1] > best[1] ? one : best));
  return { index, label, score, all_scores: { ...scores } };
}

async function classify(runtime: Runtime, request: Request): Promise<Reply> {
  const body = request.body as ClassifyRequest;
  const { scores, tokens } = await runtime.encoders.classify(askOf(body, request), textsOf(body), zeroShotOf(body));
  const json: ClassifyResponse = {
    object: 'list',
    data: scores.map(classification),
    total_count: scores.length,
    model: body.model,
    usage: usageOf(tokens),
  };
  return { json };
}

/** Texts sorted into labels. */
export const classifyEndpoints: Endpoint<Runtime>[] = [
  endpoint({
    method: 'POST',
    path: '/v1/classify',
    id: 'classify_texts',
    summary: "Sort texts into a model's labels, or into your own by an NLI model",
    tag: 'encoders',
    body: 'universal/encoders#ClassifyRequest',
    response: 'universal/encoders#ClassifyResponse',
    bodyLimitBytes: TEXTS_BYTES,
    handler: classify,
  }),
];

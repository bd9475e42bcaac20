import { sigmoid } from '../../runtime/encoders/scores.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type Endpoint, endpoint, type Reply, type Request } from '../../schemas/endpoint.js';
import type { RerankRequest, RerankResponse } from '../../schemas/generated/universal/encoders.js';
import { askOf, TEXTS_BYTES, usageOf } from './encoder-asks.js';

async function rerank(runtime: Runtime, request: Request): Promise<Reply> {
  const body = request.body as RerankRequest;
  const texts = body.documents.map((document) => (typeof document === 'string' ? document : document.text));
  const { scores, tokens } = await runtime.encoders.rerank(askOf(body, request), body.query, texts);
  const most = body.top_k ?? body.top_n ?? texts.length;
  const order = scores.map((_score, index) => index).sort((a, b) => scores[b]! - scores[a]! || a - b);
  const json: RerankResponse = {
    object: 'list',
    data: order.slice(0, most).map((index) => ({
      index,
      relevance_score: scores[index]!,
      normalized_score: sigmoid(scores[index]!),
      document: body.return_documents === false ? null : texts[index]!,
    })),
    model: body.model,
    usage: usageOf(tokens),
  };
  return { json };
}

/** Documents in the order of their relevance. */
export const rerankEndpoints: Endpoint<Runtime>[] = [
  endpoint({
    method: 'POST',
    path: '/v1/rerank',
    id: 'rerank_documents',
    summary: 'Put documents in the order of their relevance to a query',
    tag: 'encoders',
    body: 'universal/encoders#RerankRequest',
    response: 'universal/encoders#RerankResponse',
    bodyLimitBytes: TEXTS_BYTES,
    handler: rerank,
  }),
];

import type { Message } from '../../schemas/generated/core/conversations.js';
import { sourceOf } from '../chat/passages.js';
import type { Hit } from '../rag/contract.js';

/** One passage that an answer was made from. */
export type Citation = NonNullable<Message['citations']>[number];

/** What the model was given of documents, by the numbers that it was shown, with what a client needs to open each where it stands. */
export function citationsOf(hits: readonly Hit[]): Citation[] {
  return hits.map((hit, at) => {
    const { dataset } = hit.metadata;
    const page = hit.metadata.page ?? hit.metadata.page_number;
    return {
      n: at + 1,
      id: hit.id,
      text: hit.text,
      document: sourceOf(hit) ?? null,
      file_hash: hit.documentHash || null,
      dataset: typeof dataset === 'string' ? dataset : null,
      page: typeof page === 'number' ? page : null,
      score: hit.score,
      metadata: hit.metadata,
    };
  });
}

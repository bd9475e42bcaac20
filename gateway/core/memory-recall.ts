import type { RecallQuestion } from '../../runtime/memory/recall/recall.js';
import { type GivenQuestion, givenFilter, givenPlace, listOf, shownRecall } from '../../runtime/memory/wire.js';
import { type Endpoint, endpoint, type Request } from '../../schemas/endpoint.js';
import type { ConsolidateReply, ConsolidateRequest, Memory, QueryReply, RecallRequest } from '../../schemas/generated/core/memory.js';
import { replyInTurns } from '../http/json.js';
import { MEMORY, type MemoryContext, storeOf, tag } from './memory-place.js';

/** How long a consolidation is waited for; a longer one is a task that goes on. */
const CONSOLIDATION_MS = 30_000;
const RECALL_BYTES = 262_144;
const RADIUS_M = 1000;

/** The question of a recall. Throws as `givenPlace` and `givenFilter`. */
export function recallQuestion(given: GivenQuestion): RecallQuestion {
  const { query, entities, radius_m: radiusM = RADIUS_M, max_tokens: maxTokens, limit } = given;
  const place = givenPlace(given);
  return {
    ...givenFilter({ ...given, limit }),
    ...(query === undefined ? {} : { text: query }),
    ...(entities === undefined ? {} : { entities: listOf(entities) }),
    ...(place ? { near: { ...place, radiusM } } : {}),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  };
}

/** The memories that answer a question, as clients see them. */
export async function recallOf({ mind }: MemoryContext, { params, query, signal }: Request, question: RecallQuestion): Promise<Memory[]> {
  const found = await mind.recall(params.namespace!, params.project!, query.store_name as string | undefined, question, signal);
  return found.map(shownRecall);
}

/** What was asked in a body. */
function questionOf({ query, max_tokens: maxTokens, ...rest }: RecallRequest): RecallQuestion {
  return recallQuestion({ ...rest, ...(query ? { query } : {}), ...(typeof maxTokens === 'number' ? { max_tokens: maxTokens } : {}) });
}

/** Recall and consolidation: what makes a memory of records. */
export const memoryRecallEndpoints: Endpoint<MemoryContext>[] = [
  endpoint<MemoryContext>({
    method: 'POST',
    path: `${MEMORY}/recall`,
    id: 'memory_recall',
    access: 'writers',
    tool: 'reads',
    summary: 'Ask what is remembered: one ranked list by words, meaning, facts, time and place',
    tag,
    query: 'core/memory#StoreQuery',
    body: 'core/memory#RecallRequest',
    bodyLimitBytes: RECALL_BYTES,
    response: 'core/memory#QueryReply',
    handler: async (context, request) => {
      const results = await recallOf(context, request, questionOf(request.body as RecallRequest));
      return replyInTurns({ success: true, results, total_count: results.length, error: null } satisfies QueryReply);
    },
  }),
  endpoint<MemoryContext>({
    method: 'POST',
    path: `${MEMORY}/consolidate`,
    id: 'memory_consolidate',
    access: 'writers',
    summary: 'Take facts from what was said since the last time',
    tag,
    query: 'core/memory#StoreQuery',
    body: 'core/memory#ConsolidateRequest',
    response: 'core/memory#ConsolidateReply',
    handler: async (context, request) => {
      const store = await storeOf(context, request);
      const { use_llm: useModel } = (request.body ?? {}) as ConsolidateRequest;
      const { taskId, isDone, info } = await context.mind.consolidate(store, useModel ?? undefined, CONSOLIDATION_MS, request.signal);
      const count = (name: string): number => (typeof info[name] === 'number' ? info[name] : 0);
      const records = count('records_processed');
      const facts = count('facts_extracted');
      return {
        json: {
          success: true,
          records_processed: records,
          facts_extracted: facts,
          nodes_created: count('nodes_created'),
          pruned: count('pruned'),
          skipped: records === 0,
          synthesis_method: info.synthesis_method === 'llm' ? 'llm' : 'rule_based',
          message: isDone ? `${facts} facts were taken from ${records} records.` : `The task ${taskId} goes on; ask for it by its id.`,
          task_id: taskId,
        } satisfies ConsolidateReply,
      };
    },
  }),
];

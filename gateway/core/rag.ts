import type { Hit, Question } from '../../runtime/rag/contract.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type Endpoint, endpoint, type Request } from '../../schemas/endpoint.js';
import type {
  DatabaseCreate,
  DatabaseUpdate,
  PreviewRequest,
  QueryReply,
  QueryRequest,
  QueryResult,
} from '../../schemas/generated/core/rag.js';
import { placeOf } from './place.js';

const RAG = '/v1/projects/{namespace}/{project}/rag';
const DATABASE = `${RAG}/databases/{database_name}`;
/** A preview may carry a file of 10 MB as base64. */
const PREVIEW_BYTES = 16 * 1024 * 1024;

/** The database of the path, or that of the query. */
function requestedDatabase({ params, query }: Request): string | undefined {
  return params.database_name ?? (query.database as string | undefined);
}

function range({ query }: Request): { offset: number; limit: number } {
  return { offset: query.offset as number, limit: query.limit as number };
}

/** The question that a request asks; null counts as absent. */
function questionOf(asked: QueryRequest): Question {
  return {
    text: asked.query,
    ...(asked.database ? { database: asked.database } : {}),
    ...(asked.retrieval_strategy ? { strategy: asked.retrieval_strategy } : {}),
    ...(typeof asked.top_k === 'number' ? { topK: asked.top_k } : {}),
    ...(typeof asked.score_threshold === 'number' ? { threshold: asked.score_threshold } : {}),
    ...(asked.metadata_filters ? { filter: asked.metadata_filters } : {}),
    ...(asked.distance_metric ? { distanceMetric: asked.distance_metric } : {}),
    ...(typeof asked.hybrid_alpha === 'number' ? { hybridAlpha: asked.hybrid_alpha } : {}),
    ...(asked.rerank_model ? { rerankModel: asked.rerank_model } : {}),
    ...(asked.query_expansion ? { queryExpansion: true } : {}),
    ...(typeof asked.max_tokens === 'number' ? { maxTokens: asked.max_tokens } : {}),
    ...(asked.explain ? { explain: true } : {}),
  };
}

function resultOf(hit: Hit): QueryResult {
  return {
    content: hit.text,
    score: hit.score,
    metadata: { ...hit.metadata, similarity_score: hit.score },
    chunk_id: hit.id,
    document_id: hit.documentHash,
    ...(hit.explanation ? { explanation: hit.explanation } : {}),
  };
}

function stepProgress(tell: Request['progress']): ((step: string) => void) | undefined {
  let done = 0;
  const step = (text: string): void => {
    done += 1;
    tell?.({ done, text });
  };
  return tell && step;
}

async function ask({ projects, retrieval }: Runtime, request: Request): Promise<QueryReply> {
  const asked = request.body as QueryRequest;
  const { namespace, name, config } = projects.load(...placeOf(request));
  const findings = await retrieval.ask(
    { namespace, project: name, config },
    questionOf(asked),
    request.signal,
    stepProgress(request.progress),
  );
  return {
    query: asked.query,
    results: findings.hits.map(resultOf),
    total_results: findings.hits.length,
    processing_time_ms: findings.timeMs,
    retrieval_strategy_used: findings.strategy,
    database_used: findings.database,
    ...(findings.warnings.length > 0 ? { warnings: [...findings.warnings] } : {}),
  };
}

const databaseEndpoints: Endpoint<Runtime>[] = [
  endpoint<Runtime>({
    method: 'GET',
    path: `${RAG}/databases`,
    id: 'databases_list',
    access: 'members',
    summary: 'List the retrieval databases of a project',
    tag: 'rag',
    response: 'core/rag#DatabaseList',
    handler: ({ databases }, request) => ({ json: databases.list(...placeOf(request)) }),
  }),
  endpoint<Runtime>({
    method: 'POST',
    path: `${RAG}/databases`,
    id: 'database_create',
    access: 'writers',
    summary: 'Add a retrieval database',
    tag: 'rag',
    tool: 'adds',
    status: 201,
    body: 'core/rag#DatabaseCreate',
    response: 'core/rag#DatabaseReply',
    handler: async ({ databases }, request) => ({
      status: 201,
      json: { database: await databases.create(...placeOf(request), request.body as DatabaseCreate) },
    }),
  }),
  endpoint<Runtime>({
    method: 'GET',
    path: DATABASE,
    id: 'database_get',
    access: 'members',
    summary: 'Read a retrieval database',
    tag: 'rag',
    tool: 'reads',
    response: 'core/rag#DatabaseDetail',
    handler: ({ databases }, request) => ({ json: databases.get(...placeOf(request), requestedDatabase(request)!) }),
  }),
  endpoint<Runtime>({
    method: 'PATCH',
    path: DATABASE,
    id: 'database_update',
    access: 'writers',
    summary: 'Change settings and strategies of a retrieval database',
    tag: 'rag',
    tool: 'changes',
    body: 'core/rag#DatabaseUpdate',
    response: 'core/rag#DatabaseDetail',
    handler: async ({ databases }, request) => ({
      json: await databases.update(...placeOf(request), requestedDatabase(request)!, request.body as DatabaseUpdate),
    }),
  }),
  endpoint<Runtime>({
    method: 'DELETE',
    path: DATABASE,
    id: 'database_delete',
    access: 'writers',
    summary: 'Remove a retrieval database and what it holds',
    tag: 'rag',
    tool: 'removes',
    query: 'core/rag#DatabaseDeleteQuery',
    response: 'core/rag#DatabaseDeleteReply',
    handler: async ({ databases }, request) => {
      const name = requestedDatabase(request)!;
      const collection = request.query.delete_collection === true;
      const { detail, leftBehind } = await databases.delete(...placeOf(request), name, { collection });
      const isGone = collection && leftBehind === null;
      return { json: { message: `Database '${name}' deleted`, database: detail, collection_deleted: isGone, left_behind: leftBehind } };
    },
  }),
  endpoint<Runtime>({
    method: 'GET',
    path: `${DATABASE}/documents`,
    id: 'documents_list',
    access: 'members',
    summary: 'List the documents of a retrieval database',
    tag: 'rag',
    query: 'core/rag#DocumentsQuery',
    response: 'core/rag#Documents',
    handler: async ({ inspection }, request) => ({
      json: await inspection.documents(...placeOf(request), requestedDatabase(request), range(request)),
    }),
  }),
  endpoint<Runtime>({
    method: 'POST',
    path: `${DATABASE}/preview`,
    id: 'database_preview',
    access: 'members',
    summary: 'Show how a file would be cut, without storing it',
    tag: 'rag',
    body: 'core/rag#PreviewRequest',
    bodyLimitBytes: PREVIEW_BYTES,
    response: 'core/rag#PreviewReply',
    handler: async ({ preview }, request) => ({
      json: await preview.show(...placeOf(request), requestedDatabase(request)!, request.body as PreviewRequest, request.signal),
    }),
  }),
];

/** The retrieval endpoints: questions, databases, and the upkeep of these. */
export const ragEndpoints: Endpoint<Runtime>[] = [
  endpoint<Runtime>({
    method: 'POST',
    path: `${RAG}/query`,
    id: 'rag_query',
    access: 'members',
    summary: 'Find the passages that answer a question',
    tag: 'rag',
    tool: 'reads',
    body: 'core/rag#QueryRequest',
    response: 'core/rag#QueryReply',
    handler: async (runtime, request) => ({ json: await ask(runtime, request) }),
  }),
  ...databaseEndpoints,
  endpoint<Runtime>({
    method: 'GET',
    path: `${RAG}/health`,
    id: 'rag_health',
    access: 'members',
    summary: 'Say how the store and the embedder of a database are',
    tag: 'rag',
    query: 'core/rag#DatabaseQuery',
    response: 'core/rag#HealthReply',
    handler: async ({ inspection }, request) => ({ json: await inspection.health(...placeOf(request), requestedDatabase(request)) }),
  }),
  endpoint<Runtime>({
    method: 'GET',
    path: `${RAG}/stats`,
    id: 'rag_stats',
    access: 'members',
    summary: 'Measure a database',
    tag: 'rag',
    query: 'core/rag#DatabaseQuery',
    response: 'core/rag#StatsReply',
    handler: async ({ inspection }, request) => ({ json: await inspection.stats(...placeOf(request), requestedDatabase(request)) }),
  }),
  endpoint<Runtime>({
    method: 'GET',
    path: `${RAG}/documents`,
    id: 'rag_documents',
    access: 'members',
    summary: 'List the documents of a database (older clients)',
    tag: 'rag',
    query: 'core/rag#OlderDocumentsQuery',
    response: 'core/rag#Documents',
    handler: async ({ inspection }, request) => {
      const filter = request.query.filter as string | undefined;
      const wanted = { ...range(request), ...(filter === undefined ? {} : { filter }) };
      return { json: await inspection.documents(...placeOf(request), requestedDatabase(request), wanted) };
    },
  }),
  endpoint<Runtime>({
    method: 'POST',
    path: `${RAG}/compact`,
    id: 'rag_compact',
    access: 'writers',
    summary: 'Give back the space of removed chunks',
    tag: 'rag',
    query: 'core/rag#DatabaseQuery',
    response: 'core/rag#CompactReply',
    handler: async ({ inspection }, request) => ({ json: await inspection.compact(...placeOf(request), requestedDatabase(request)) }),
  }),
  endpoint<Runtime>({
    method: 'POST',
    path: `${RAG}/reindex`,
    id: 'rag_reindex',
    access: 'writers',
    summary: 'Build the indexes of a database anew',
    tag: 'rag',
    query: 'core/rag#ReindexQuery',
    response: 'core/rag#ReindexReply',
    handler: async ({ inspection }, request) => {
      const strategy = request.query.strategy as string | undefined;
      return { json: await inspection.reindex(...placeOf(request), requestedDatabase(request), strategy) };
    },
  }),
];

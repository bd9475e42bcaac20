import type { Message } from '../../schemas/generated/common.js';
import type { ModelConfig } from '../../schemas/generated/config/project.js';
import type { CompletionRequest as ChatRequest } from '../../schemas/generated/core/chat.js';
import { log } from '../base/log.js';
import type { WireOptions } from '../completions/wire.js';
import type { ProjectTools } from '../mcp/contract.js';
import type { LoadedProject } from '../projects/projects.js';
import type { Hit, Question, Retrieval } from '../rag/contract.js';
import { databaseOf, defaultOf, retrievalOf, topKOf } from '../rag/retrieval.js';
import { fenceResult } from './agent/tool-call.js';

/** Passages of different questions that begin alike are the same passage. */
const SAME_START = 200;
/** Characters of a message that are searched for. */
const MAX_QUESTION_CHARS = 20_000;
/** Characters of what one tool server gives. */
const MAX_CONTEXT_CHARACTERS = 64 * 1024;
/** Sources that a stream names unless `sources_limit` says otherwise. */
const DEFAULT_SOURCES = 10;

/** The questions of a turn to the databases of its project, or none: without retrieval, without a database, without anything to ask. */
export function questionsOf(project: LoadedProject, model: ModelConfig, request: ChatRequest): Question[] {
  const databases = project.config.rag?.databases ?? [];
  const enabled = request.rag_enabled ?? model.rag_enabled ?? databases.length > 0;
  if (!enabled || databases.length === 0) return [];
  const name = request.database || model.target_database;
  const database = name ? databases.find((one) => one.name === name) : defaultOf(databases, project.config.rag?.default_database);
  if (!database) {
    log('warn', 'a chat names an unknown database and is answered without it', { database: name, project: project.name });
    return [];
  }
  if ((database.retrieval_strategies ?? []).length === 0) return [];
  const own = (request.rag_queries ?? []).map(questionText).filter((text) => text !== '');
  const texts = own.length > 0 ? own : [lastQuestion(request.messages)].filter((text) => text !== '');
  return texts.map((text) => ({
    text,
    database: database.name,
    ...(request.rag_retrieval_strategy ? { strategy: request.rag_retrieval_strategy } : {}),
    ...(typeof request.rag_top_k === 'number' ? { topK: request.rag_top_k } : {}),
    ...(typeof request.rag_score_threshold === 'number' ? { threshold: request.rag_score_threshold } : {}),
  }));
}

/** What the user asked last, as it is searched for: at most 20,000 characters. */
export function lastQuestion(messages: readonly Message[]): string {
  const content = messages.findLast((message) => message.role === 'user')?.content;
  if (typeof content === 'string') return questionText(content);
  if (!Array.isArray(content)) return '';
  return questionText(content.map((part) => (part.type === 'text' ? (part.text ?? '').slice(0, MAX_QUESTION_CHARS) : '')).join('\n'));
}

function questionText(text: string): string {
  return text.trimStart().slice(0, MAX_QUESTION_CHARS).trimEnd();
}

/** Asks all questions at the same time. One of several may fail; the only one may not. The best hits of all, each passage once. */
export async function retrievePassages(
  retrieval: Retrieval,
  project: LoadedProject,
  questions: readonly Question[],
  signal: AbortSignal,
): Promise<Hit[]> {
  if (questions.length === 0) return [];
  const scope = { namespace: project.namespace, project: project.name, config: project.config };
  const answers = await Promise.allSettled(questions.map((question) => retrieval.ask(scope, question, signal)));
  const failed = answers.find((answer) => answer.status === 'rejected');
  if (failed && answers.every((answer) => answer.status === 'rejected')) throw failed.reason;
  if (failed) log('warn', 'some of the queries of a chat failed', { error: failed.reason });
  const hits = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value.hits : []));
  if (questions.length < 2) return hits;
  const best = new Map<string, Hit>();
  for (const hit of hits.toSorted((a, b) => b.score - a.score)) {
    const start = hit.text.slice(0, SAME_START);
    if (!best.has(start)) best.set(start, hit);
  }
  const [question] = questions;
  const strategy = retrievalOf(databaseOf(scope.config, question!.database), question!.strategy);
  return [...best.values()].slice(0, topKOf(strategy, question!));
}

/** The hits as one text for the system message; none without any. */
export function contextText(hits: readonly Hit[]): string[] {
  if (hits.length === 0) return [];
  const blocks = hits.map((hit, index) => {
    const source = sourceOf(hit);
    const page = hit.metadata.page ?? hit.metadata.page_number;
    const label = [
      `Source ${index + 1}`,
      ...(source === undefined ? [] : [`"${source}"`]),
      ...(page === undefined || page === null ? [] : [`page ${page}`]),
      `relevance ${hit.score.toFixed(3)}`,
    ].join(', ');
    return fencePassage(label, hit.text);
  });
  return [['## Additional context', '### Passages from the documents of this project', ...blocks].join('\n\n')];
}

/** The resources and prompts of tool servers that a request names, as one text for the system message; none where it names none. Throws as `ProjectTools.read`. */
export async function serverContext(
  tools: ProjectTools | undefined,
  project: LoadedProject,
  { mcp_context: wanted }: ChatRequest,
  signal: AbortSignal,
): Promise<string[]> {
  if (!tools || !wanted || wanted.length === 0) return [];
  const texts = await tools.read(project, wanted, signal);
  const blocks = wanted.map(({ server, resource, prompt }, index) => {
    const label = resource === undefined ? `prompt "${prompt}"` : `resource ${resource}`;
    return fencePassage(`${label} of server "${server}"`, fenceResult(texts[index]!, MAX_CONTEXT_CHARACTERS));
  });
  return [['## Additional context', '### Given by tool servers of this project', ...blocks].join('\n\n')];
}

/** A text of strangers between marks. It must not end its own block and speak as the prompt. */
export function fencePassage(label: string, text: string): string {
  return `<passage>\n[${label}]\n${text.replaceAll('</passage', '<\\/passage')}\n</passage>`;
}

/** The name of the document that a passage is from, where it has one. */
export function sourceOf({ metadata }: Hit): string | undefined {
  const source = metadata.source ?? metadata.filename ?? metadata.file_name;
  return typeof source === 'string' ? source : undefined;
}

/**
 * The sources as an event of their own before the answer. It is a chunk without choices too, because the official clients take every event
 * for a chunk.
 */
export function sourcesFrame({ id, model }: WireOptions, sources: readonly Record<string, unknown>[]): string {
  const chunk = { id, object: 'chat.completion.chunk', created: Math.floor(Date.now() / 1000), model, choices: [], sources };
  return `event: sources\ndata: ${JSON.stringify(chunk)}\n\n`;
}

/** The hits as clients see them, `limit` of them. */
export function sourcesOf(hits: readonly Hit[], limit: number | null | undefined): Record<string, unknown>[] {
  return hits.slice(0, limit ?? DEFAULT_SOURCES).map((hit) => ({
    id: hit.id,
    document_id: hit.documentHash,
    source: sourceOf(hit) ?? null,
    content: hit.text,
    score: hit.score,
    metadata: hit.metadata,
  }));
}

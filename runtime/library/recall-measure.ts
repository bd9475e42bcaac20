import { Failure } from '../../schemas/errors.js';
import type { RecallReply, RecallRequest, Relevant, StoredQuestion } from '../../schemas/generated/core/questions.js';
import { breathe } from '../base/loop.js';
import type { LoadedProject } from '../projects/projects.js';
import type { Hit, Retrieval } from '../rag/contract.js';
import { databaseOf } from '../rag/retrieval.js';

/** Questions times strategies of one request, which takes seconds to minutes. */
const MOST_ASKED = 2_000;
const DEFAULT_K = 5;

type Run = RecallReply['runs'][number];

/** What recall is measured with. */
export interface MeasureParts {
  readonly project: LoadedProject;
  readonly retrieval: Retrieval;
  readonly questions: readonly StoredQuestion[];
  readonly signal: AbortSignal;
  /** Told in words how far it is. */
  readonly tell?: ((done: number, of: number) => void) | undefined;
}

/** Asks test questions by each strategy and tells where what should be found was. Throws `bad_request` where there is nothing to ask, or too much of it. */
export async function measureRecall(parts: MeasureParts, { strategies, database, k = DEFAULT_K }: RecallRequest): Promise<RecallReply> {
  const { config } = parts.project;
  const questions = parts.questions.filter(({ relevant }) => relevant.length > 0);
  if (questions.length === 0)
    throw new Failure('bad_request', 'No test question says what should be found. Add some with "relevant", and ask again.', {
      code: 'NoQuestions',
    });
  const named = database ?? undefined;
  const names = strategies ?? (databaseOf(config, named ?? questions[0]!.database).retrieval_strategies ?? []).map(({ name }) => name);
  const asked = names.length * questions.length;
  if (asked > MOST_ASKED)
    throw new Failure(
      'bad_request',
      `${questions.length} questions by ${names.length} strategies are ${asked} queries; the most is ${MOST_ASKED}. Name fewer of them.`,
      {
        code: 'TooManyQueries',
      },
    );
  const runs: Run[] = [];
  let done = 0;
  for (const strategy of names) {
    const answers: Run['questions'] = [];
    let ms = 0;
    for (const question of questions) {
      const { hits, timeMs, error } = await askQuestion(parts, question, { strategy, topK: k, database: named ?? question.database });
      ms += timeMs;
      answers.push(judgeHits(question, hits.slice(0, k), error));
      done += 1;
      parts.tell?.(done, asked);
      await breathe();
    }
    const mean = (of: (answer: Run['questions'][number]) => number): number =>
      answers.reduce((sum, one) => sum + of(one), 0) / answers.length;
    runs.push({
      strategy,
      recall_at_k: mean((one) => one.recall),
      mrr: mean(({ rank }) => (rank === null ? 0 : 1 / rank)),
      mean_ms: ms / answers.length,
      questions: answers,
    });
  }
  return { k, runs };
}

async function askQuestion(
  { project, retrieval, signal }: MeasureParts,
  { query, filters }: StoredQuestion,
  { database, ...how }: { strategy: string; topK: number; database: string | undefined },
): Promise<{ hits: readonly Hit[]; timeMs: number; error: string | null }> {
  const scope = { namespace: project.namespace, project: project.name, config: project.config };
  const question = { text: query, ...how, ...(database ? { database } : {}), ...(filters ? { filter: filters } : {}) };
  try {
    return { ...(await retrieval.ask(scope, question, signal)), error: null };
  } catch (failure) {
    signal.throwIfAborted();
    // A name that is nowhere is nobody's question; what one question cannot be asked for costs it alone.
    if (!(failure instanceof Failure) || failure.status >= 500 || failure.kind === 'not_found') throw failure;
    return { hits: [], timeMs: 0, error: failure.message };
  }
}

function judgeHits({ id, query, relevant }: StoredQuestion, hits: readonly Hit[], error: string | null): Run['questions'][number] {
  const places = relevant.map((one) => hits.findIndex((hit) => isMeant(one, hit))).filter((place) => place >= 0);
  return {
    id,
    query,
    found: places.length > 0,
    rank: places.length > 0 ? Math.min(...places) + 1 : null,
    recall: places.length / relevant.length,
    error,
  };
}

/** Whether a passage is what should be found. Ids change where documents are cut anew: then its words tell. */
function isMeant({ file_hash: document, chunk_id: chunk, text }: Relevant, hit: Hit): boolean {
  if (hit.documentHash !== document) return false;
  if (chunk === undefined && text === undefined) return true;
  return hit.id === chunk || (text !== undefined && collapseSpaces(hit.text).includes(collapseSpaces(text)));
}

const collapseSpaces = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

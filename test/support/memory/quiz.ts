import { readBatch } from '../../../runtime/memory/consolidation/batch.js';
import type { MemoryRecord, MemoryStore } from '../../../runtime/memory/contract.js';
import { likenessBy } from '../../../runtime/memory/facts.js';
import { RecallIndex } from '../../../runtime/memory/recall/index.js';
import { Recall, type RecallQuestion } from '../../../runtime/memory/recall/recall.js';
import type { Embedder } from '../../../runtime/rag/embedders/contract.js';
import { PARTS } from './conversation.js';
import { QUESTION_CLASSES, QUESTIONS, type Question, type QuestionClass } from './questions.js';

const DAY_MS = 86_400_000;
const never = new AbortController().signal;
/** When the questions are asked, unless they say otherwise. */
const END_MS = Date.parse('2025-12-01T00:00:00Z');

/** Tells the store the conversation, part by part, with what is consolidated and forgotten in between. Returns the record of each message. */
export async function tell(
  store: MemoryStore,
  embedder: Embedder,
  forget: (ids: string[]) => Promise<unknown>,
): Promise<Map<string, MemoryRecord>> {
  const records = new Map<string, MemoryRecord>();
  for (const { said, forgotten } of PARTS) {
    const added = await store.write({
      add: said.map(({ role, text, atMs, place }) => ({
        type: 'chat',
        data: { role, content: text },
        text,
        timeMs: atMs,
        metadata: { role },
        ...(place ? { place } : {}),
      })),
    });
    for (const [at, record] of added.entries()) records.set(said[at]!.id, record);
    const { add, end } = await readBatch(added, {
      store,
      likeness: likenessBy(embedder, never),
      byModel: undefined,
      signal: never,
      run: 'quiz',
    });
    await store.write({ add, end });
    if (forgotten.length > 0) await forget(forgotten.map((id) => records.get(id)!.id));
  }
  return records;
}

function asked({ text, asOf, between, near }: Question): RecallQuestion {
  return {
    text,
    limit: 5,
    ...(asOf === undefined ? {} : { asOfMs: Date.parse(asOf) + DAY_MS - 1 }),
    ...(between === undefined ? {} : { fromMs: Date.parse(between[0]), toMs: Date.parse(between[1]) + DAY_MS - 1 }),
    ...(near === undefined ? {} : { near }),
  };
}

/** How well a question was answered by these messages, the best first: 0 to 1. */
function marked({ of, records, not = [] }: Question, answered: readonly string[]): number {
  const top = answered.slice(0, 5);
  if (records.length === 0) return not.some((id) => top.includes(id)) ? 0 : 1;
  const found = records.filter((id) => top.includes(id));
  if (of === 'contradicted') {
    const place = Math.min(...found.map((id) => top.indexOf(id)), 5);
    return found.length > 0 && not.every((id) => !top.includes(id) || top.indexOf(id) > place) ? 1 : 0;
  }
  return found.length / records.length;
}

/** What a hundred questions came to: 0 to 1 by class and over all. */
export interface Quizzed {
  readonly marks: Readonly<Record<QuestionClass, number>>;
  readonly all: number;
  readonly each: readonly (readonly [Question, number, readonly string[]])[];
}

/** Asks all questions; `ask` answers with messages, the best first. */
export async function quiz(ask: (question: Question) => Promise<string[]>): Promise<Quizzed> {
  const each: [Question, number, string[]][] = [];
  for (const question of QUESTIONS) {
    const answered = await ask(question);
    each.push([question, marked(question, answered), answered]);
  }
  const mean = (some: typeof each): number => some.reduce((sum, [, mark]) => sum + mark, 0) / some.length;
  const marks = Object.fromEntries(QUESTION_CLASSES.map((of) => [of, mean(each.filter(([question]) => question.of === of))])) as Record<
    QuestionClass,
    number
  >;
  return { marks, all: mean(each), each };
}

/** Asks the recall of a store; answers the messages by their ids in the conversation. */
export async function recallAnswers(
  store: MemoryStore,
  embedder: Embedder,
  records: ReadonlyMap<string, MemoryRecord>,
): Promise<(question: Question) => Promise<string[]>> {
  const answers = await answersOf(store, embedder, records);
  return (question) => answers(asked(question));
}

/** Asks the transcript alone, as plain retrieval does: no facts, times and places, and nothing that was forgotten. */
export async function plainAnswers(store: MemoryStore, embedder: Embedder): Promise<(question: Question) => Promise<string[]>> {
  const records = new Map<string, MemoryRecord>();
  for (const { said } of PARTS) {
    const added = await store.write({ add: said.map(({ text }) => ({ type: 'chat', data: text, text, timeMs: END_MS })) });
    for (const [at, record] of added.entries()) records.set(said[at]!.id, record);
  }
  const answers = await answersOf(store, embedder, records);
  return ({ text }) => answers({ text, limit: 5 });
}

async function answersOf(
  store: MemoryStore,
  embedder: Embedder,
  records: ReadonlyMap<string, MemoryRecord>,
): Promise<(question: RecallQuestion) => Promise<string[]>> {
  const index = await RecallIndex.open(store, embedder);
  await index.embedded();
  const recall = new Recall(store, index, () => END_MS);
  const said = new Map([...records].map(([id, record]) => [record.id, id]));
  return async (question) =>
    (await recall.ask(question, never)).map(
      ({ record: { id, provenance } }) => said.get(id) ?? said.get(provenance?.records?.[0] ?? '') ?? id,
    );
}

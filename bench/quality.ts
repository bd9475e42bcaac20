import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { RETRIEVAL_PROJECT, Refusal, type RetrievalClient } from '../test/support/retrieval-client.js';
import { skip } from './lacking.js';
import { openLibrary, type Source, takeIn } from './library.js';
import { ended, ROOT, type Row, table } from './measure.js';
import { benchMemoryQuestions } from './memory-questions.js';

const RECALLS_AT = [1, 5] as const;
const GAIN_AT = 10;
const STRATEGIES = ['lexical', 'dense', 'hybrid'] as const;
/** The embedding model that a second pass asks for, where it is present: by name, in the cache of models or in the folder `BENCH_MODELS`. */
const MODEL = process.env.BENCH_EMBEDDER ?? 'sentence-transformers/all-MiniLM-L6-v2';
const MODELS = process.env.BENCH_MODELS;
const EMBEDDERS = { LexicalEmbedder: 'LexicalEmbedder', [MODEL]: `UniversalEmbedder, config: {model: ${MODEL}}` };

/** A question with the file that answers it, and words that the passage with the answer has. */
interface Asked {
  readonly question: string;
  readonly file: string;
  readonly says: string;
}

/** Questions over a collection. */
interface Quiz {
  readonly title: string;
  readonly sources: readonly Source[];
  readonly questions: readonly Asked[];
}

interface Score {
  /** By how many results are looked at. */
  readonly recall: Readonly<Record<(typeof RECALLS_AT)[number], number>>;
  readonly gain: number;
}

function pagesOf(folder: string, prefix = ''): Source[] {
  return readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name): Source => [prefix + name, readFileSync(join(ROOT, folder, name), 'utf8')]);
}

const plain = (text: string): string => text.replace(/[`*\s]+/g, ' ').toLowerCase();

/** Throws where a file does not say what its answer is known by. */
function quiz(title: string, sources: readonly Source[], file: string): Quiz {
  const questions = JSON.parse(readFileSync(join(ROOT, 'bench', file), 'utf8')) as Asked[];
  for (const asked of questions)
    if (!plain(sources.find(([name]) => name === asked.file)?.[1] ?? '').includes(plain(asked.says)))
      throw new Error(`bench/${file}: ${asked.file} does not say "${asked.says}" (${asked.question})`);
  return { title, sources, questions };
}

/** The project's own pages; the measured figures are left out because they change. */
function ownPages(): Source[] {
  const docs = pagesOf('docs').filter(([name]) => name !== 'benchmarks.md');
  return [['root-README.md', readFileSync(join(ROOT, 'README.md'), 'utf8')], ...docs, ...pagesOf('docs/decisions', 'decisions-')];
}

/** Every collection with its questions. Throws where a page no longer says what a question's answer is known by. */
export function quizzes(): Quiz[] {
  const texts = pagesOf('bench/texts');
  const own = ownPages();
  return [
    quiz(`${texts.length} texts of everyday life, on which the weights were chosen`, texts, 'questions-texts.json'),
    quiz(`${own.length} pages of this project`, own, 'questions.json'),
  ];
}

/** At which place the answer comes, from 1; undefined where it does not. */
async function placeOf(client: RetrievalClient, { question, file, says }: Asked, strategy: string): Promise<number | undefined> {
  const { results } = await client.ask({ query: question, database: 'main_db', retrieval_strategy: strategy, top_k: GAIN_AT });
  const at = results.findIndex(({ content, metadata }) => metadata.file_name === file && plain(content).includes(plain(says)));
  return at < 0 ? undefined : at + 1;
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

async function scoreOf(client: RetrievalClient, questions: readonly Asked[], strategy: string): Promise<Score> {
  const places: (number | undefined)[] = [];
  for (const asked of questions) places.push(await placeOf(client, asked, strategy));
  if (process.env.BENCH_SHOW)
    for (const [at, place] of places.entries()) process.stdout.write(`${strategy} ${place ?? '-'} ${questions[at]!.question}\n`);
  const recall = (most: number): number => mean(places.map((place) => (place !== undefined && place <= most ? 1 : 0)));
  return {
    recall: { 1: recall(1), 5: recall(5) },
    gain: mean(places.map((place) => (place === undefined ? 0 : 1 / Math.log2(place + 1)))),
  };
}

function rowOf(what: string, scores: readonly Score[], of: (score: Score) => number): Row {
  const [lexical, dense, hybrid] = scores.map(of) as [number, number, number];
  const best = Math.max(lexical, dense);
  const said = hybrid > best ? 'hybrid wins' : hybrid === best ? 'hybrid does not win: even' : 'hybrid does not win';
  const each = `BM25 ${lexical.toFixed(3)}, dense ${dense.toFixed(3)}, hybrid ${hybrid.toFixed(3)}`;
  return { what, ours: each, peer: '', ratio: `${(hybrid / best).toFixed(2)}x of the better`, goal: said };
}

/** Why a model cannot be asked; undefined when it can. */
async function refusalOf(client: RetrievalClient): Promise<string | undefined> {
  try {
    await client.ask({ query: 'Is the model there?', database: 'main_db', retrieval_strategy: 'dense' });
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return `${error.status} ${(JSON.parse(error.text) as { message: string }).message}`;
    throw error;
  }
}

async function measure({ title, sources, questions }: Quiz, embedder: keyof typeof EMBEDDERS): Promise<void> {
  const project = RETRIEVAL_PROJECT.replaceAll('type: LexicalEmbedder', `type: ${EMBEDDERS[embedder]}`);
  const { client, daemon } = await openLibrary(project, linkModels);
  const refusal = await refusalOf(client);
  if (refusal === undefined) {
    const { chunks } = await takeIn(client, sources);
    await client.indexed('main_db');
    const scores: Score[] = [];
    for (const strategy of STRATEGIES) scores.push(await scoreOf(client, questions, strategy));
    table(`Quality: ${questions.length} questions to ${title}, ${chunks} chunks, dense by ${embedder}`, [
      ...RECALLS_AT.map((most) => rowOf(`recall@${most}`, scores, (score) => score.recall[most])),
      rowOf(`nDCG@${GAIN_AT}`, scores, (score) => score.gain),
    ]);
  } else
    skip(`quality with dense by ${embedder}`, `${refusal.slice(0, 60)}...; node build/bundle/main.js pull ${embedder}, or BENCH_MODELS`);
  await ended(daemon);
}

function linkModels(dataDir: string): void {
  if (MODELS !== undefined && existsSync(MODELS)) symlinkSync(MODELS, join(dataDir, 'models'));
}

/** Measures how well questions find their answers, by the embedder without a model and by a model that is present, and prints the tables. */
export async function benchQuality(): Promise<void> {
  for (const embedder of Object.keys(EMBEDDERS)) for (const one of quizzes()) await measure(one, embedder);
  await benchMemoryQuestions(MODEL, MODELS);
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RetrievalClient } from '../test/support/retrieval-client.js';
import { openLibrary, type Source, takeIn } from './library.js';
import { ended, ROOT, type Row, table } from './measure.js';

const RECALL_AT = 5;
const GAIN_AT = 10;
const STRATEGIES = ['lexical', 'dense', 'hybrid'] as const;

/** A question with the file that answers it, and words that the passage with the answer has. */
interface Asked {
  readonly question: string;
  readonly file: string;
  readonly says: string;
}

/** The project's own pages; the measured figures are left out because they change. */
function pages(): Source[] {
  const read = (folder: string, prefix: string): Source[] =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith('.md') && name !== 'benchmarks.md')
      .map((name): Source => [prefix + name, readFileSync(join(ROOT, folder, name), 'utf8')]);
  return [['root-README.md', readFileSync(join(ROOT, 'README.md'), 'utf8')], ...read('docs', ''), ...read('docs/decisions', 'decisions-')];
}

const plain = (text: string): string => text.replace(/[`*\s]+/g, ' ').toLowerCase();

/** At which place the answer comes, from 1; undefined where it does not. */
async function placeOf(client: RetrievalClient, { question, file, says }: Asked, strategy: string): Promise<number | undefined> {
  const { results } = await client.ask({ query: question, database: 'main_db', retrieval_strategy: strategy, top_k: GAIN_AT });
  const at = results.findIndex(({ content, metadata }) => metadata.file_name === file && plain(content).includes(plain(says)));
  return at < 0 ? undefined : at + 1;
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Measures how well questions find their answers in the project's own documentation, and prints the table. */
export async function benchQuality(): Promise<void> {
  const questions = JSON.parse(readFileSync(join(ROOT, 'bench/questions.json'), 'utf8')) as Asked[];
  const sources = pages();
  for (const { file, says, question } of questions)
    if (!plain(sources.find(([name]) => name === file)?.[1] ?? '').includes(plain(says)))
      throw new Error(`bench/questions.json: ${file} does not say "${says}" (${question})`);
  const { client, daemon } = await openLibrary();
  const { chunks } = await takeIn(client, sources);
  await client.indexed('main_db');
  const scores: Record<string, { recall: number; gain: number }> = {};
  for (const strategy of STRATEGIES) {
    const places: (number | undefined)[] = [];
    for (const asked of questions) places.push(await placeOf(client, asked, strategy));
    if (process.env.BENCH_SHOW)
      for (const [at, place] of places.entries()) process.stdout.write(`${strategy} ${place ?? '-'} ${questions[at]!.question}\n`);
    scores[strategy] = {
      recall: mean(places.map((place) => (place !== undefined && place <= RECALL_AT ? 1 : 0))),
      gain: mean(places.map((place) => (place === undefined ? 0 : 1 / Math.log2(place + 1)))),
    };
  }
  await ended(daemon);
  const { lexical, dense, hybrid } = scores as Record<(typeof STRATEGIES)[number], { recall: number; gain: number }>;
  const row = (what: string, of: (score: { recall: number; gain: number }) => number): Row => {
    const best = Math.max(of(lexical), of(dense));
    const said = of(hybrid) > best ? 'hybrid wins' : of(hybrid) === best ? 'hybrid does not win: even' : 'hybrid does not win';
    const each = `BM25 ${of(lexical).toFixed(3)}, dense ${of(dense).toFixed(3)}, hybrid ${of(hybrid).toFixed(3)}`;
    return { what, ours: each, peer: '', ratio: `${(of(hybrid) / best).toFixed(2)}x of the better`, goal: said };
  };
  table(
    `Quality: ${questions.length} questions to ${sources.length} pages of this project, ${chunks} chunks, dense by LexicalEmbedder (no model)`,
    [row(`recall@${RECALL_AT}`, (score) => score.recall), row(`nDCG@${GAIN_AT}`, (score) => score.gain)],
  );
}

import { loadCore } from '../native/loader.js';
import { proseOf, randomOf, wordOf } from '../test/support/retrieval-corpus.js';
import { unlessLacking } from './lacking.js';
import { median, type Row, table } from './measure.js';
import { installPeers, peerModule } from './npm-peers.js';
import { sizeOf } from './size.js';

const TEXTS = sizeOf('BENCH_TEXTS', 5_000, 1_000);
const CHARACTERS = 400;
const QUERIES = 60;
const ROUNDS = 3;
const K = 10;
const BATCH = 1000;
/** BM25 with the constants that both sides use. */
const K1 = 1.2;
const B = 0.75;

interface MiniSearch {
  addAll(documents: { id: number; text: string }[]): void;
  search(query: string): { id: number; score: number }[];
}

/** Scores all texts by Lucene's formula, written plainly. */
function scoresOf(texts: readonly string[][], query: readonly string[]): Map<number, number> {
  const mean = texts.reduce((sum, words) => sum + words.length, 0) / texts.length;
  const scores = new Map<number, number>();
  for (const term of query) {
    const counts = texts.map((words) => words.filter((word) => word === term).length);
    const having = counts.filter((count) => count > 0).length;
    const weight = Math.log(1 + (texts.length - having + 0.5) / (having + 0.5));
    for (const [id, count] of counts.entries()) {
      if (count === 0) continue;
      const share = count / (count + K1 * (1 - B + (B * texts[id]!.length) / mean));
      scores.set(id, (scores.get(id) ?? 0) + weight * share);
    }
  }
  return scores;
}

/** The largest deviation of our scores from the formula, as a share, over a few queries. */
async function deviation(texts: readonly string[], queries: readonly string[]): Promise<number> {
  const index = loadCore().openTextIndex({ language: 'none' });
  await index.add(Uint32Array.from(texts.keys()), [...texts]);
  const words = texts.map((text) => text.toLowerCase().match(/[a-z]+/g)!);
  let worst = 0;
  for (const query of queries) {
    const scores = scoresOf(words, query.split(' '));
    const best = [...scores.values()].sort((a, b) => b - a);
    const found = await index.search(query, K);
    // (k1 + 1) is a constant factor that Lucene left out in version 8: orders and ratios do not change.
    const factor = found.scores[0]! / best[0]!;
    for (const [at, score] of found.scores.entries()) worst = Math.max(worst, Math.abs(score / factor / scores.get(found.ids[at]!)! - 1));
  }
  await index.close();
  return worst;
}

/** Measures the text index against MiniSearch, and its scores against Lucene's formula, and prints the table. */
export async function benchText(): Promise<void> {
  const random = randomOf(11);
  const texts = Array.from({ length: TEXTS }, () => proseOf(random, CHARACTERS));
  const queries = Array.from({ length: QUERIES }, (_, at) =>
    [...new Set(Array.from({ length: at % 2 ? 5 : 2 }, () => wordOf(random)))].join(' '),
  );
  const worst = await deviation(texts.slice(0, 2000), queries.slice(0, 20));

  const index = loadCore().openTextIndex({ language: 'none' });
  const begun = performance.now();
  for (let from = 0; from < TEXTS; from += BATCH)
    await index.add(
      Uint32Array.from({ length: Math.min(BATCH, TEXTS - from) }, (_, at) => from + at),
      texts.slice(from, from + BATCH),
    );
  const ourBuildMs = performance.now() - begun;

  const peer = await unlessLacking('text against MiniSearch', () => {
    installPeers('minisearch@7.2.0');
    const Peer = peerModule<new (options: object) => MiniSearch>('minisearch');
    const mini = new Peer({ fields: ['text'] });
    const start = performance.now();
    mini.addAll(texts.map((text, id) => ({ id, text })));
    return { buildMs: performance.now() - start, search: (query: string) => mini.search(query).slice(0, K) };
  });
  const rate = async (search: (query: string) => unknown): Promise<number> => {
    const start = performance.now();
    for (const query of queries) await search(query);
    return (QUERIES * 1000) / (performance.now() - start);
  };
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let round = -1; round < ROUNDS; round += 1) {
    const mine = await rate((query) => index.search(query, K));
    const other = peer ? await rate(peer.search) : Number.NaN;
    if (round < 0) continue;
    ours.push(mine);
    theirs.push(other);
  }
  const against = (what: string, mine: number, other: number): Row => ({
    what,
    ours: mine.toFixed(0),
    peer: Number.isNaN(other) ? '' : other.toFixed(0),
    ratio: Number.isNaN(other) ? '' : `${(mine / other).toFixed(2)}x`,
    goal: '',
  });
  table(
    `Text: BM25 over ${TEXTS} texts of ${CHARACTERS} characters against MiniSearch, 2 and 5 words, medians of ${ROUNDS} interleaved runs`,
    [
      against('queries/s', median(ours), median(theirs)),
      against('texts/s while building', (TEXTS * 1000) / ourBuildMs, peer ? (TEXTS * 1000) / peer.buildMs : Number.NaN),
      { what: "largest deviation of a score from Lucene's formula", ours: worst.toExponential(1), peer: '', ratio: '', goal: '<= 1e-5' },
    ],
  );
  await index.close();
}

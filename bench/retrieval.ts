import { setTimeout as sleep } from 'node:timers/promises';
import type { QueryRequest } from '../schemas/generated/core/rag.js';
import type { RetrievalClient } from '../test/support/retrieval-client.js';
import { proseOf, randomOf, wordOf } from '../test/support/retrieval-corpus.js';
import { openLibrary, type Source, takeIn } from './library.js';
import { ended, median, quantile, type Row, table } from './measure.js';
import { sizeOf } from './size.js';

/** Chunks to ask; `BENCH_CHUNKS=100000` is the full run. */
const CHUNKS = sizeOf('BENCH_CHUNKS', 5_000, 1_000);
/** Characters of a file, which makes about as many chunks as it has times 350. */
const FILE_CHARACTERS = 35_000;
const CHUNK_CHARACTERS = 350;
const CLIENTS = [1, 32];
const SECONDS = 3;
/** So few chunks may have no graph. */
const LEAST_LINKED = 10_000;

function* corpus(): Generator<Source> {
  const random = randomOf(21);
  for (let at = 0; at < (CHUNKS * CHUNK_CHARACTERS) / FILE_CHARACTERS; at += 1) yield [`text-${at}.txt`, proseOf(random, FILE_CHARACTERS)];
}

const KINDS: Readonly<Record<string, Partial<QueryRequest>>> = {
  dense: { retrieval_strategy: 'dense' },
  lexical: { retrieval_strategy: 'lexical' },
  hybrid: { retrieval_strategy: 'hybrid' },
  'filtered (one file)': { retrieval_strategy: 'filtered', metadata_filters: { file_name: 'text-3.txt' } },
};

/** Times of all answers while `clients` ask one question after the other. */
async function times(client: RetrievalClient, clients: number, kind: Partial<QueryRequest>): Promise<number[]> {
  const random = randomOf(clients);
  const until = performance.now() + SECONDS * 1000;
  const tookMs: number[] = [];
  const worker = async (): Promise<void> => {
    while (performance.now() < until) {
      const query = Array.from({ length: 5 }, () => wordOf(random)).join(' ');
      const started = performance.now();
      await client.ask({ query, database: 'main_db', top_k: 10, ...kind });
      tookMs.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: clients }, worker));
  return tookMs;
}

/** Waits until questions go through the graph: it is built behind the rows, which are scanned until then. */
async function linked(client: RetrievalClient): Promise<void> {
  if (CHUNKS < LEAST_LINKED) return;
  for (let compared = CHUNKS; compared >= CHUNKS / 20; await sleep(500)) {
    const { results } = await client.ask({ query: 'warm', database: 'main_db', retrieval_strategy: 'dense', explain: true });
    const plan = results[0]!.explanation!.plan as { dense: { plan: string; compared: number } };
    compared = plan.dense.compared;
  }
}

/** Measures questions over HTTP, and prints the table. */
export async function benchRetrieval(): Promise<void> {
  const { client, daemon } = await openLibrary();
  const { chunks } = await takeIn(client, corpus());
  await client.indexed('main_db');
  await linked(client);
  const rows: Row[] = [];
  for (const [name, kind] of Object.entries(KINDS)) {
    await client.ask({ query: 'warm', database: 'main_db', ...kind });
    for (const clients of CLIENTS) {
      const tookMs = await times(client, clients, kind);
      const ours = `${median(tookMs).toFixed(1)} / ${quantile(tookMs, 0.99).toFixed(1)}, ${(tookMs.length / SECONDS).toFixed(0)}/s`;
      rows.push({
        what: `${name}, ${clients} client${clients > 1 ? 's' : ''}: p50 / p99 ms, answers/s`,
        ours,
        peer: '',
        ratio: '',
        goal: '',
      });
    }
  }
  await ended(daemon);
  table(`rag/query over HTTP: ${chunks} chunks, 5 words, 10 results, ${SECONDS} s each; the client shares the machine`, rows);
}

import { RETRIEVAL_PROJECT } from '../test/support/retrieval-client.js';
import { proseOf, randomOf, wordOf } from '../test/support/retrieval-corpus.js';
import { openLibrary, type Source, takeIn } from './library.js';
import { ask, ended, type LoopDelay, type Row, table } from './measure.js';
import { sizeOf } from './size.js';

/** Size of the mixed corpus; `BENCH_MB=50` is the full run. */
const MEGABYTES = sizeOf('BENCH_MB', 2, 1);
/** Chunks at the end of the growth; `BENCH_GROWTH=1000000` is the full run. */
const GROWTH = sizeOf('BENCH_GROWTH', 8_000, 1_000);
/** Dimensions of the vectors while the database grows: few, because the part `vectors` measures the graph. */
const GROWTH_DIMENSIONS = 64;
/** Shares of the growth at which a window is measured; what lies between is only filled. The first is 10,000 chunks of a million. */
const WINDOWS = [0.01, 0.25, 0.5, 0.75, 0.98] as const;
const WINDOW_SHARE = 0.02;
const GROWTH_FILE_CHARACTERS = 500_000;
const GROWTH_LIMIT_MS = 1_800_000;
const FILE_CHARACTERS = 50_000;
const CHUNK_CHARACTERS = 350;
const MIB = 2 ** 20;

type Random = () => number;

const sections = (random: Random, section: (title: string, text: string) => string): string => {
  let text = '';
  while (text.length < FILE_CHARACTERS) text += section(`${wordOf(random)} ${wordOf(random)}`, proseOf(random, 900));
  return text;
};

/** Writes a text in each format. */
const FORMATS: Readonly<Record<string, (random: Random) => string>> = {
  txt: (random) => proseOf(random, FILE_CHARACTERS),
  md: (random) => sections(random, (title, text) => `## ${title}\n\n${text}\n\n`),
  html: (random) => `<html><body>${sections(random, (title, text) => `<h2>${title}</h2><p>${text}</p>`)}</body></html>`,
  csv: (random) => `name,note\n${sections(random, (title, text) => `${title},"${text.slice(0, 120)}"\n`)}`,
  json: (random) => `[${sections(random, (title, text) => `${JSON.stringify({ title, text: text.slice(0, 300) })},`)}null]`,
};

function mixed(): Source[] {
  const random = randomOf(31);
  const files: Source[] = [];
  for (let size = 0; size < MEGABYTES * MIB; ) {
    const ending = Object.keys(FORMATS)[files.length % Object.keys(FORMATS).length]!;
    const content = FORMATS[ending]!(random);
    size += content.length;
    files.push([`file-${files.length}.${ending}`, content]);
  }
  return files;
}

const row = (what: string, ours: string, ratio = '', goal = ''): Row => ({ what, ours, peer: '', ratio, goal });

async function mixedRows(): Promise<Row[]> {
  const { client, daemon } = await openLibrary();
  const files = mixed();
  // The first file loads, compiles and starts what all need, and is not measured.
  await takeIn(client, [['first.txt', proseOf(randomOf(30), FILE_CHARACTERS)]], 'other');
  await ask(daemon, { probe: 'reset' });
  const { taskMs, chunks } = await takeIn(client, files);
  const delay = await ask<LoopDelay>(daemon, { probe: 'read' });
  await ended(daemon);
  const megabytes = files.reduce((sum, [, content]) => sum + content.length, 0) / MIB;
  const seconds = taskMs / 1000;
  return [
    row(`mixed corpus (${Object.keys(FORMATS).join(', ')}; ${files.length} files), MB/s`, (megabytes / seconds).toFixed(2)),
    row('mixed corpus, chunks/s', (chunks / seconds).toFixed(0)),
    row('delay of the event loop meanwhile, p50 / p99, ms', `${delay.p50Ms.toFixed(2)} / ${delay.p99Ms.toFixed(2)}`, '', 'p99 <= 5'),
    row('delay of the event loop meanwhile, max, ms', delay.maxMs.toFixed(2)),
  ];
}

/** A project whose files are taken in part by part: a dataset is always processed as a whole. */
function growingProject(): string {
  const datasets = Array.from(
    { length: 2 * WINDOWS.length },
    (_, at) => `  - {name: part-${at}, database: main_db, data_processing_strategy: texts}`,
  );
  return RETRIEVAL_PROJECT.replace('type: LexicalEmbedder', `type: LexicalEmbedder, config: {dimension: ${GROWTH_DIMENSIONS}}`).replace(
    'datasets:\n',
    `datasets:\n${datasets.join('\n')}\n`,
  );
}

async function growthRows(): Promise<Row[]> {
  const { client, daemon } = await openLibrary(growingProject());
  const random = randomOf(32);
  let number = 0;
  /** Takes in about so many chunks; resolves to the milliseconds for each, until the indexes have them, and the chunks that are there then. */
  const grow = async (count: number): Promise<[eachMs: number, chunks: number]> => {
    const before = (await client.stats('main_db')).chunk_count;
    const characters = Math.min(GROWTH_FILE_CHARACTERS, count * CHUNK_CHARACTERS);
    const files = Math.ceil((count * CHUNK_CHARACTERS) / characters);
    const more = function* (): Generator<Source> {
      for (let at = 0; at < files; at += 1) yield [`text-${number}-${at}.txt`, proseOf(random, characters)];
    };
    const { taskMs, chunks } = await takeIn(client, more(), `part-${number++}`);
    const started = performance.now();
    await client.indexed('main_db', GROWTH_LIMIT_MS);
    return [(taskMs + performance.now() - started) / (chunks - before), chunks];
  };
  const rows: Row[] = [];
  let first = 0;
  let there = 0;
  for (const share of WINDOWS) {
    [, there] = await grow(Math.max(1, GROWTH * share - there));
    const [eachMs, now] = await grow(GROWTH * WINDOW_SHARE);
    first ||= eachMs;
    rows.push(
      row(
        `chunk ${there} to ${now}, ms each`,
        eachMs.toFixed(2),
        `${(eachMs / first).toFixed(2)}x of the first`,
        share > WINDOWS[0]! ? '<= 1.2x' : '',
      ),
    );
    there = now;
  }
  await ended(daemon);
  return rows;
}

/** Measures taking files in, and how the cost of a chunk grows with the database, and prints the tables. */
export async function benchIngest(): Promise<void> {
  table(`Taking in ${MEGABYTES} MB, lexical embeddings`, await mixedRows());
  table(`Growth to ${GROWTH} chunks of ${GROWTH_DIMENSIONS} dimensions, indexes included`, await growthRows());
}

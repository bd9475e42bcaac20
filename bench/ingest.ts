import { proseOf, randomOf, wordOf } from '../test/support/retrieval-corpus.js';
import { openLibrary, type Source, takeIn } from './library.js';
import { ended, type Row, table } from './measure.js';

/** Size of the mixed corpus; `BENCH_MB=50` is the full run. */
const MEGABYTES = Number(process.env.BENCH_MB ?? 2);
/** Chunks at the end of the growth; `BENCH_GROWTH=1000000` is the full run. */
const GROWTH = Number(process.env.BENCH_GROWTH ?? 8_000);
const STEPS = 4;
const FILE_CHARACTERS = 50_000;
const CHUNK_CHARACTERS = 350;
const MIB = 2 ** 20;

type Random = () => number;

const sections = (random: Random, section: (title: string, text: string) => string): string => {
  let text = '';
  while (text.length < FILE_CHARACTERS) text += section(`${wordOf(random)} ${wordOf(random)}`, proseOf(random, 900));
  return text;
};

/** One writer per format. */
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

/** Measures taking files in, and how the cost of a chunk grows with the database, and prints the table. */
export async function benchIngest(): Promise<void> {
  const whole = await openLibrary();
  const files = mixed();
  const { taskMs, chunks } = await takeIn(whole.client, files);
  await ended(whole.daemon);
  const megabytes = files.reduce((sum, [, content]) => sum + content.length, 0) / MIB;
  const seconds = taskMs / 1000;
  const row = (what: string, ours: string, ratio = '', goal = ''): Row => ({ what, ours, peer: '', ratio, goal });
  const rows = [
    row(`mixed corpus (${Object.keys(FORMATS).join(', ')}), MB/s`, (megabytes / seconds).toFixed(2)),
    row('mixed corpus, chunks/s', (chunks / seconds).toFixed(0)),
  ];

  const growing = await openLibrary();
  const random = randomOf(32);
  let [before, first, number] = [0, 0, 0];
  for (let step = 0; step < STEPS; step += 1) {
    const count = Math.ceil((GROWTH * CHUNK_CHARACTERS) / FILE_CHARACTERS / STEPS);
    const more = Array.from({ length: count }, (): Source => [`text-${number++}.txt`, proseOf(random, FILE_CHARACTERS)]);
    const taken = await takeIn(growing.client, more);
    const each = taken.taskMs / (taken.chunks - before);
    first ||= each;
    rows.push(
      row(
        `chunk ${before} to ${taken.chunks}, ms each`,
        each.toFixed(2),
        `${(each / first).toFixed(2)}x of the first`,
        step ? '<= 1.2x' : '',
      ),
    );
    before = taken.chunks;
  }
  await ended(growing.daemon);
  table(`Taking in: ${megabytes.toFixed(1)} MB in ${files.length} files, lexical embeddings`, rows);
}

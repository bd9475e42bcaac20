import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createWorker } from 'tesseract.js';
import { Models } from '../runtime/models/residency/models.js';
import { Vision } from '../runtime/vision/vision.js';
import { emptyDataDir } from '../test/support/daemon.js';
import { textImage } from '../test/support/vision/pictures.js';
import { median, type Row, table } from './measure.js';
import { sizeOf } from './size.js';

/** Pages that are read; `BENCH_PAGES=100` is the full run. */
const PAGES = sizeOf('BENCH_PAGES', 8, 2);
const ROUNDS = sizeOf('BENCH_ROUNDS', 3, 1);
const LINES = 12;
const WORDS = 'the quern turns grain to flour while water drives its wheel through night and day'.split(' ');
const LSTM_ONLY = 1;
/** A folder with the weights of paddleocr, read beside tesseract where it is given. */
const PADDLE = process.env.BENCH_PADDLEOCR;

/** A page of text as a 150 dpi scan. */
function pageOf(number: number): Promise<Uint8Array> {
  const line = (at: number): string =>
    Array.from({ length: 7 }, (_, word) => WORDS[(number * 7 + at * 3 + word * 5) % WORDS.length]).join(' ');
  return textImage(Array.from({ length: LINES }, (_, at) => [11, 24, line(at)] as const));
}

/** What reads pages here: `one` after the other, or `all` of them at once. */
interface Reader {
  one(page: Uint8Array): Promise<unknown>;
  all(pages: readonly Uint8Array[]): Promise<unknown>;
  readonly rssMb: () => number;
  close(): Promise<unknown>;
}

/** tesseract.js as its page shows it, in this process. */
async function openPeer(): Promise<Reader> {
  const folder = dirname(createRequire(import.meta.url).resolve('@tesseract.js-data/eng/package.json'));
  const worker = await createWorker('eng', LSTM_ONLY, {
    langPath: join(folder, '4.0.0_best_int'),
    cacheMethod: 'none',
    errorHandler: () => {},
  });
  const one = (page: Uint8Array) => worker.recognize(Buffer.from(page), {}, { blocks: true, text: false });
  return { one, all: (pages) => Promise.all(pages.map(one)), rssMb: () => 0, close: () => worker.terminate() };
}

function openOwn(model: string, dataDir: string): Reader {
  const models = new Models({ dataDir });
  const vision = new Vision(models);
  const signal = new AbortController().signal;
  const all = (pages: readonly Uint8Array[]) =>
    vision.ocr({ model, pictures: pages.map((bytes) => ({ name: 'page', bytes })), languages: ['en'] }, signal);
  const rssMb = (): number => {
    const status = readFileSync(`/proc/${models.loaded()[0]!.pid}/status`, 'utf8');
    return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024);
  };
  return { one: (page) => all([page]), all, rssMb, close: () => models.close() };
}

/** Pages per second. */
interface Rates {
  readonly single: number;
  readonly together: number;
}

async function rate(count: number, act: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await act();
  return (count * 1000) / (performance.now() - started);
}

/** Pages per second of a reader, one page at a time and all of them in one request, in turn with another reader's. */
async function measured(readers: readonly Reader[], pages: readonly Uint8Array[]): Promise<Rates[]> {
  const found = readers.map(() => ({ single: [] as number[], together: [] as number[] }));
  // Loads, and starts what reads the further pages.
  for (const reader of readers) await reader.all(pages.slice(0, 2));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, reader] of readers.entries()) {
      found[index]!.single.push(
        await rate(pages.length, async () => {
          for (const page of pages) await reader.one(page);
        }),
      );
      found[index]!.together.push(await rate(pages.length, () => reader.all(pages)));
    }
  }
  return found.map(({ single, together }) => ({ single: median(single), together: median(together) }));
}

/** Pages per second of each OCR engine that can run here, one page after the other and several at once. */
export async function benchOcr(): Promise<void> {
  const pages = await Promise.all(Array.from({ length: PAGES }, (_, number) => pageOf(number)));
  const readers = [openOwn('tesseract', emptyDataDir()), await openPeer()] as const;
  const [own, peer] = (await measured(readers, pages)) as [Rates, Rates];
  const rssMb = readers[0].rssMb();
  const row = (what: string, ours: number, theirs: number, goal: string): Row => ({
    what,
    ours: ours.toFixed(2),
    peer: `tesseract.js ${theirs.toFixed(2)}`,
    ratio: `${(ours / theirs).toFixed(2)}x`,
    goal,
  });
  const rows = [
    row('tesseract, one page after the other, pages/s', own.single, peer.single, '>= 0.95x'),
    row(`tesseract, all pages in one request (${rssMb} MB), pages/s`, own.together, peer.together, '>= 1.3x'),
  ];
  for (const reader of readers) await reader.close();
  if (PADDLE) {
    const reader = openOwn('paddleocr', PADDLE);
    const [{ together }] = (await measured([reader], pages)) as [Rates];
    rows.push({ what: `paddleocr, pages/s (${reader.rssMb()} MB)`, ours: together.toFixed(2), peer: '', ratio: '', goal: '' });
    await reader.close();
  }
  table(`OCR of ${PAGES} pages with ${LINES} lines each, 150 dpi, medians of ${ROUNDS} interleaved runs`, rows);
}

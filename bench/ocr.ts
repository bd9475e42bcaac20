import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createWorker } from 'tesseract.js';
import { Models } from '../runtime/models/models.js';
import { Vision } from '../runtime/vision/vision.js';
import { emptyDataDir } from '../test/support/daemon.js';
import { textImage } from '../test/support/vision/pictures.js';
import { type Row, table } from './measure.js';

/** Pages that are read; `BENCH_PAGES=100` is the full run. */
const PAGES = Number(process.env.BENCH_PAGES ?? 8);
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

async function pagesPerSecond(pages: readonly Uint8Array[], read: (page: Uint8Array) => Promise<unknown>): Promise<number> {
  const started = performance.now();
  for (const page of pages) await read(page);
  return (pages.length * 1000) / (performance.now() - started);
}

/** tesseract.js as its page shows it, in this process. */
async function peerRate(pages: readonly Uint8Array[]): Promise<number> {
  const folder = dirname(createRequire(import.meta.url).resolve('@tesseract.js-data/eng/package.json'));
  const worker = await createWorker('eng', LSTM_ONLY, {
    langPath: join(folder, '4.0.0_best_int'),
    cacheMethod: 'none',
    errorHandler: () => {},
  });
  const read = (page: Uint8Array) => worker.recognize(Buffer.from(page), {}, { blocks: true, text: false });
  await read(pages[0]!);
  const rate = await pagesPerSecond(pages, read);
  await worker.terminate();
  return rate;
}

async function ownRate(pages: readonly Uint8Array[], model: string, dataDir: string): Promise<{ rate: number; rssMb: number }> {
  const models = new Models({ dataDir });
  const vision = new Vision(models);
  const signal = new AbortController().signal;
  const read = (bytes: Uint8Array) => vision.ocr({ model, pictures: [{ name: 'page', bytes }], languages: ['en'] }, signal);
  await read(pages[0]!);
  const rate = await pagesPerSecond(pages, read);
  const status = readFileSync(`/proc/${models.loaded()[0]!.pid}/status`, 'utf8');
  await models.close();
  return { rate, rssMb: Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024) };
}

/** Pages per second of each OCR engine that can run here, one page after the other. */
export async function benchOcr(): Promise<void> {
  const pages = await Promise.all(Array.from({ length: PAGES }, (_, number) => pageOf(number)));
  const own = await ownRate(pages, 'tesseract', emptyDataDir());
  const peer = await peerRate(pages);
  const rows: Row[] = [
    {
      what: `tesseract, pages/s (${own.rssMb} MB)`,
      ours: own.rate.toFixed(2),
      peer: `tesseract.js ${peer.toFixed(2)}`,
      ratio: `${(own.rate / peer).toFixed(2)}x`,
      goal: '>= 0.9x',
    },
  ];
  if (PADDLE) {
    const { rate, rssMb } = await ownRate(pages, 'paddleocr', PADDLE);
    rows.push({ what: `paddleocr, pages/s (${rssMb} MB)`, ours: rate.toFixed(2), peer: '', ratio: '', goal: '' });
  }
  table(`OCR of ${PAGES} pages with ${LINES} lines each, 150 dpi`, rows);
}

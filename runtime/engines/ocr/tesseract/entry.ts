import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Worker } from 'tesseract.js';
import { Failure } from '../../../../schemas/errors.js';
import type { OpenEngine } from '../../../hosts/protocol.js';
import { decodePicture, encodeCleanPng, encodePng, rotatePixels } from '../../../pictures/codec.js';
import type { Picture } from '../../../pictures/picture.js';
import type { OcrOpened, OcrPage } from '../../contracts/ocr.js';
import type { TesseractBody, TrainedLanguage } from './engine.js';
import { orderedReadings } from './readings.js';

/** `OEM.LSTM_ONLY`. */
const LSTM_ONLY = 1;
/** A lane beyond the first that had nothing to read for so long gives its memory back. */
const IDLE_MS = 30_000;
const OPENED: OcrOpened = { devices: { requested: 'auto', available: ['cpu'], used: ['cpu'], why: null }, notes: [] };

/** One copy of the program, which has one memory: it reads one image after the other. */
class Lane {
  readonly #languages: TesseractBody['languages'];
  #worker: Promise<Worker> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  /** Images that it reads or that wait for it. */
  pending = 0;
  /** Ends it where nothing came for some time. */
  timer: NodeJS.Timeout | undefined;

  constructor(languages: TesseractBody['languages']) {
    this.#languages = languages;
  }

  read(picture: Picture, signal: AbortSignal): Promise<OcrPage> {
    clearTimeout(this.timer);
    this.pending += 1;
    const reading = this.#last.then(() => this.#read(picture, signal));
    this.#last = reading
      .catch(() => {})
      .then(() => {
        this.pending -= 1;
      });
    return reading;
  }

  async close(): Promise<void> {
    clearTimeout(this.timer);
    await (await this.#worker?.catch(() => undefined))?.terminate();
  }

  async #read(picture: Picture, signal: AbortSignal): Promise<OcrPage> {
    signal.throwIfAborted();
    const pixels = await decodePicture(picture);
    const worker = await this.ready();
    signal.throwIfAborted();
    // A recognition that runs cannot be stopped, and its promise never settles once the worker is gone.
    let onAbort!: () => void;
    const aborted = new Promise<never>((_resolve, reject) => {
      onAbort = () => {
        this.#worker = undefined;
        void worker.terminate();
        reject(signal.reason);
      };
      signal.addEventListener('abort', onAbort, { once: true });
    });
    try {
      return await Promise.race([
        orderedReadings(
          worker,
          {
            width: pixels.width,
            height: pixels.height,
            asItIs: () => encodePng(pixels, { quick: true }),
            withoutNoise: () => encodeCleanPng(pixels),
            turned: async (degrees) => encodePng(await rotatePixels(pixels, degrees), { quick: true }),
          },
          signal,
        ),
        aborted,
      ]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  ready(): Promise<Worker> {
    this.#worker ??= this.#start();
    this.#worker.catch(() => {
      this.#worker = undefined;
    });
    return this.#worker;
  }

  async #start(): Promise<Worker> {
    const { createWorker } = await import('tesseract.js');
    const codes = this.#languages.map(({ code }) => code);
    return withLanguages(this.#languages, (langPath) =>
      // Without a handler an error of the worker ends the process; the promises of its calls reject all the same.
      createWorker(codes, LSTM_ONLY, { langPath, gzip: false, cacheMethod: 'none', errorHandler: () => {} }),
    );
  }
}

/** As many lanes as the daemon asks at once; all but the first go again when they are not needed. */
class Tesseract {
  #body: TesseractBody = { languages: [], lanes: 1 };
  #lanes: Lane[] = [];

  async open(body: TesseractBody): Promise<OcrOpened> {
    this.#body = body;
    await this.#add().ready();
    return OPENED;
  }

  async read(picture: Picture, signal: AbortSignal): Promise<OcrPage> {
    const lane = this.#lane();
    try {
      return await lane.read(picture, signal);
    } finally {
      if (lane !== this.#lanes[0]) lane.timer = setTimeout(() => this.#drop(lane), IDLE_MS);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.close()));
  }

  /** An idle lane, a new one, or the one with the least to do: one that a caller has just left may still be ending its work. */
  #lane(): Lane {
    const [least] = [...this.#lanes].sort((one, other) => one.pending - other.pending);
    return least?.pending === 0 || this.#lanes.length >= this.#body.lanes ? least! : this.#add();
  }

  #add(): Lane {
    const lane = new Lane(this.#body.languages);
    this.#lanes.push(lane);
    return lane;
  }

  #drop(lane: Lane): void {
    if (lane.pending > 0) return;
    this.#lanes = this.#lanes.filter((one) => one !== lane);
    void lane.close();
  }
}

/** Makes the engine of this process. */
export const openEngine: OpenEngine = () => {
  const tesseract = new Tesseract();
  return {
    call(method, body, signal) {
      if (method === 'open') return tesseract.open(body as TesseractBody);
      if (method === 'read') return tesseract.read(body as Picture, signal);
      throw new Failure('internal', `An OCR host has no method ${method}.`);
    },
    close: () => tesseract.close(),
  };
};

/** The largest of tesseract's own files have 40 MB. */
const TRAINED_BYTES = 128 * 1024 * 1024;

/** Places in the table of a language file; `TESSDATA_LSTM` is the network. */
const ENTRIES_LIMIT = 64;

const NETWORK = 17;

/** Gives `use` a folder with the language files under the names that tesseract looks for; it is gone afterwards. */
export async function withLanguages<T>(languages: readonly TrainedLanguage[], use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'quern-tesseract-'));
  try {
    for (const language of languages) await writeFile(join(folder, `${language.code}.traineddata`), await contentOf(language));
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The content of a language file. Throws `invalid` for what is none: tesseract would end its process. */
async function contentOf({ path }: TrainedLanguage): Promise<Buffer> {
  const refused = (why: string, cause?: unknown): Failure =>
    new Failure('invalid', `${basename(path)} is no language file of tesseract: ${why}. Get it again.`, { code: 'OcrModelInvalid', cause });
  const stored = await readFile(path);
  let content = stored;
  if (stored[0] === 0x1f && stored[1] === 0x8b) {
    try {
      content = gunzipSync(stored, { maxOutputLength: TRAINED_BYTES });
    } catch (cause) {
      throw refused('it cannot be unpacked', cause);
    }
  }
  const count = content.length < 4 ? 0 : content.readInt32LE(0);
  if (count <= NETWORK || count > ENTRIES_LIMIT || content.length < 4 + count * 8) throw refused('its table is damaged');
  const starts = Array.from({ length: count }, (_, entry) => Number(content.readBigInt64LE(4 + entry * 8)));
  if (starts[NETWORK]! < 0) throw refused('it has no network');
  if (starts.some((start) => start >= content.length)) throw refused('it is cut off');
  return content;
}

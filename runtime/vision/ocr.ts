import { Failure } from '../../schemas/errors.js';
import type { OcrEngine, OcrFiles, OcrPage, OcrReader, OcrSearch } from '../engines/contracts/ocr.js';
import { OcrClient } from '../engines/ocr/client.js';
import { OCR_NAMES, ocrEngine } from '../engines/ocr/index.js';
import { languageCode } from '../engines/ocr/languages.js';
import { tesseract } from '../engines/ocr/tesseract/engine.js';
import { findRepositoryHere } from '../models/find/repository.js';
import type { Held, Models } from '../models/residency/models.js';
import type { OcrRequest, OcrResult } from './contract.js';

/**
 * Works with a held engine. One that finds at work that its own files are wrong (`invalid`; a picture at fault is `bad_request`) is let go, so that the next
 * request loads them anew: by then they may be mended.
 */
export async function withEngine<E, T>({ engine, discard }: Held<E>, work: (engine: E) => Promise<T>): Promise<T> {
  try {
    return await work(engine);
  } catch (error) {
    if (error instanceof Failure && error.kind === 'invalid') discard();
    throw error;
  }
}

const DEFAULT_LANGUAGES = ['en'];
const MAX_LANGUAGES = 8;
/** An OCR engine takes hundreds of MB and starts in a second or two: idle ones go soon, with the check of idle models within a minute. */
const IDLE_MS = 20_000;

/** Places of models as OCR engines look through them. */
const searchIn = ({ places }: Models): OcrSearch => ({
  folder: places.folder,
  repository: (name) => findRepositoryHere(name, places),
});

/** An engine that is there: what was asked for, or tesseract in the place of a surya without weights. */
async function chosen(
  wanted: OcrEngine,
  languages: readonly string[],
  search: OcrSearch,
): Promise<{ engine: OcrEngine; files: OcrFiles; notes: string[] }> {
  try {
    return { engine: wanted, files: await wanted.find(languages, search), notes: [] };
  } catch (error) {
    if (wanted.name !== 'surya' || !(error instanceof Failure && error.code === 'OcrModelMissing')) throw error;
    return { engine: tesseract, files: await tesseract.find(languages, search), notes: [`tesseract read the images. ${error.message}`] };
  }
}

function checked({ model, languages }: OcrRequest): { engine: OcrEngine; languages: readonly string[] } {
  const engine = ocrEngine(model);
  if (!engine)
    throw new Failure(
      'bad_request',
      `OCR model ${JSON.stringify(model.slice(0, 100))} is not supported; there are ${OCR_NAMES.join(', ')}.`,
      {
        code: 'UnsupportedModel',
      },
    );
  if (languages.length > MAX_LANGUAGES)
    throw new Failure('bad_request', `${languages.length} languages were given; at most ${MAX_LANGUAGES} are read together.`);
  const given = [...new Set(languages.map(languageCode).filter((code) => code !== ''))];
  return { engine, languages: given.length > 0 ? given : DEFAULT_LANGUAGES };
}

/** Holds the engine of a request, loaded where it is not. */
export async function holdReader(
  models: Models,
  request: OcrRequest,
  signal: AbortSignal,
): Promise<Held<OcrReader> & { model: string; notes: readonly string[]; atOnce: number }> {
  const asked = checked(request);
  const { engine, files, notes } = await chosen(asked.engine, asked.languages, searchIn(models));
  const copy = engine.byLanguage ? [...asked.languages].sort().join('_') : 'any';
  const held = await models.hold(
    {
      key: `ocr:${engine.name}:${copy}`,
      type: `ocr_${engine.name}`,
      name: engine.name,
      sizeBytes: files.sizeBytes,
      idleMs: IDLE_MS,
      load: (circuit, stop) => OcrClient.load(engine, files, circuit, stop),
    },
    signal,
  );
  return { ...held, model: engine.name, notes, atOnce: engine.atOnce };
}

/** Reads the text of images, as many at once as the engine can. The first failure ends the rest. */
export async function readImages(models: Models, request: OcrRequest, signal: AbortSignal): Promise<OcrResult> {
  const held = await holdReader(models, request, signal);
  const { model, notes, atOnce } = held;
  try {
    const pages: OcrPage[] = [];
    const waiting = [...request.pictures.entries()];
    const lane = async (): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const [index, picture] = next;
        pages[index] = await withEngine(held, (engine) => engine.read(picture, signal));
      }
    };
    const stopping = (error: unknown): never => {
      waiting.length = 0;
      throw error;
    };
    const lanes = Array.from({ length: Math.min(atOnce, request.pictures.length) }, () => lane().catch(stopping));
    // The model is given back when nobody reads with it any more.
    const failed = (await Promise.allSettled(lanes)).find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    return { model, pages, notes };
  } finally {
    held.release();
  }
}

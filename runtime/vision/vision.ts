import { isAbsolute } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import type { DocumentAnswer, DocumentModel } from '../engines/contracts/documents.js';
import type { OcrEngine, OcrFiles, OcrPage, OcrReader, OcrSearch } from '../engines/contracts/ocr.js';
import { DocumentClient } from '../engines/documents/client.js';
import { decoderGraphs, encoderGraph, isLayoutModel, layoutGraph, openedGraphs } from '../engines/image-text/graphs.js';
import { OcrClient } from '../engines/ocr/client.js';
import { OCR_NAMES, ocrEngine } from '../engines/ocr/index.js';
import { languageCode } from '../engines/ocr/languages.js';
import { tesseract } from '../engines/ocr/tesseract/engine.js';
import { howToFetch, modelMissing } from '../formats/model-files.js';
import { defaultThreads } from '../hosts/memory.js';
import type { FoundRepository } from '../models/find/contract.js';
import { findRepository, findRepositoryHere, withGraphs } from '../models/find/repository.js';
import type { Held, Models } from '../models/residency/models.js';
import type { Picture } from '../pictures/picture.js';
import { checkPrompts, type ExtractRequest, type OcrRequest, type OcrResult, promptFor, type VisionService } from './contract.js';

/** Looks at images with the models of this machine. */
export class Vision implements VisionService {
  readonly #models: Models;

  constructor(models: Models) {
    this.#models = models;
  }

  ocr(request: OcrRequest, signal: AbortSignal): Promise<OcrResult> {
    return readImages(this.#models, request, signal);
  }

  extract(request: ExtractRequest, signal: AbortSignal): Promise<readonly DocumentAnswer[]> {
    return askDocuments(this.#models, request, signal);
  }
}

const DEFAULT_LANGUAGES = ['en'];
const MAX_LANGUAGES = 8;
/** An OCR engine takes hundreds of MB and starts in a second or two: idle ones go soon, with the check of idle models within a minute. */
const IDLE_MS = 20_000;

/** Reads the text of images, as many at once as the engine can. The first failure ends the rest. */
async function readImages(models: Models, request: OcrRequest, signal: AbortSignal): Promise<OcrResult> {
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

/** Holds the engine of a request, loaded where it is not. */
async function holdReader(
  models: Models,
  request: OcrRequest,
  signal: AbortSignal,
): Promise<Held<OcrReader> & { model: string; notes: readonly string[]; atOnce: number }> {
  const asked = checkRequest(request);
  const { engine, files, notes } = await chooseEngine(asked.engine, asked.languages, searchIn(models));
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

function checkRequest({ model, languages }: OcrRequest): { engine: OcrEngine; languages: readonly string[] } {
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

/** An engine that is there: what was asked for, or tesseract in the place of a surya without weights. */
async function chooseEngine(
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

/** Places of models as OCR engines look through them. */
const searchIn = ({ places }: Models): OcrSearch => ({
  folder: places.folder,
  repository: (name) => findRepositoryHere(name, places),
});

/** Reads the words for models that ask for them. */
const WORDS = { model: 'tesseract', pictures: [], languages: [] };

/** How images are made ready, which only models that look at them have. */
const PREPROCESSOR = 'preprocessor_config.json';

/** Asks a model about images of documents, one after the other; words are read first for models that look at them. */
async function askDocuments(models: Models, request: ExtractRequest, signal: AbortSignal): Promise<readonly DocumentAnswer[]> {
  checkPrompts(request);
  const held = await holdModel(models, request, signal);
  let reader: Held<OcrReader> | undefined;
  const wordsOf = async (picture: Picture) => {
    reader ??= await holdReader(models, WORDS, signal);
    return (await withEngine(reader, (engine) => engine.read(picture, signal))).boxes;
  };
  try {
    const answers: DocumentAnswer[] = [];
    for (const [index, picture] of request.pictures.entries()) {
      const prompt = promptFor(request, index);
      const words = held.engine.needsWords ? { words: await wordsOf(picture) } : {};
      answers.push(await withEngine(held, (engine) => engine.ask({ picture, task: request.task, prompt, ...words }, signal)));
    }
    return answers;
  } finally {
    reader?.release();
    held.release();
  }
}

async function holdModel(models: Models, { model: name, task }: ExtractRequest, signal: AbortSignal): Promise<Held<DocumentModel>> {
  const found = await findRepository(name, models.places);
  checkGraphs(found);
  const files = openedGraphs(found.id, found.files, found.quantisation);
  const { id, quantisation, folder, sizeBytes, notes } = await withGraphs(found, files);
  return models.hold(
    {
      key: `document:${task}:${id}${quantisation === null ? '' : `:quant${quantisation}`}`,
      type: `document_${task}`,
      name,
      sizeBytes,
      load: (circuit, stop) => DocumentClient.load({ name: id, folder, files, threads: defaultThreads() }, notes, circuit, stop),
    },
    signal,
  );
}

/** Throws `bad_request` for a model of another kind, and `not_found` that says how to get what a document model lacks. */
function checkGraphs({ id, folder, files }: FoundRepository): void {
  const needed = isLayoutModel(id)
    ? { 'model.onnx': layoutGraph(files) }
    : { 'encoder_model.onnx': encoderGraph(files), 'decoder_model.onnx': decoderGraphs(files).first };
  const lacks = Object.entries(needed).flatMap(([name, graph]) => (graph === undefined ? [name] : []));
  if (lacks.length === 0) return;
  // Models of other kinds may have one of the two graphs, but do not look at images.
  if (lacks.length === Object.keys(needed).length || !files.includes(PREPROCESSOR)) {
    const message = `${id} is no document model: its folder has no ${lacks.join(' and no ')}. Name a Donut or LayoutLM model in ONNX.`;
    throw new Failure('bad_request', message, { code: 'WrongModelType' });
  }
  throw modelMissing(id, {
    why: `it is not complete on this machine; ${folder} has no ${lacks[0]}`,
    remedies: [...(isAbsolute(id) ? [] : [howToFetch(id)]), 'put it there'],
  });
}

/**
 * Works with a held engine. One that finds at work that its own files are wrong (`invalid`; a picture at fault is `bad_request`) is let go, so that the next
 * request loads them anew: by then they may be mended.
 */
async function withEngine<E, T>({ engine, discard }: Held<E>, work: (engine: E) => Promise<T>): Promise<T> {
  try {
    return await work(engine);
  } catch (error) {
    if (error instanceof Failure && error.kind === 'invalid') discard();
    throw error;
  }
}

import { isAbsolute } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import type { DocumentAnswer, DocumentModel } from '../engines/contracts/documents.js';
import type { OcrReader } from '../engines/contracts/ocr.js';
import { DocumentClient } from '../engines/documents/client.js';
import { decoderGraphs, encoderGraph, isLayoutModel, layoutGraph, openedGraphs } from '../engines/image-text/graphs.js';
import { howToFetch, modelMissing } from '../formats/model-files.js';
import { defaultThreads } from '../hosts/memory.js';
import type { FoundRepository } from '../models/find/contract.js';
import { findRepository, withGraphs } from '../models/find/repository.js';
import type { Held, Models } from '../models/residency/models.js';
import type { Picture } from '../pictures/picture.js';
import { checkPrompts, type ExtractRequest, type OcrRequest, type OcrResult, promptFor, type VisionService } from './contract.js';
import { holdReader, readImages, withEngine } from './ocr.js';

/** Reads the words for models that ask for them. */
const WORDS = { model: 'tesseract', pictures: [], languages: [] };

/** How images are made ready, which only models that look at them have. */
const PREPROCESSOR = 'preprocessor_config.json';

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

/** Asks a model about images of documents, one after the other; words are read first for models that look at them. */
export async function askDocuments(models: Models, request: ExtractRequest, signal: AbortSignal): Promise<readonly DocumentAnswer[]> {
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

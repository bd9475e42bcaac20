import { join } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import { DocumentClient } from '../engines/documents/client.js';
import type { DocumentAnswer, DocumentModel } from '../engines/documents/contract.js';
import { openedGraphs } from '../engines/documents/graphs.js';
import type { OcrReader } from '../engines/ocr/contract.js';
import { graphBytes } from '../engines/onnx/graph-bytes.js';
import { defaultThreads } from '../hosts/memory.js';
import type { Held, Models } from '../models/models.js';
import { findRepository } from '../models/repositories.js';
import type { Picture } from '../pictures/picture.js';
import type { ExtractRequest } from './contract.js';
import { holdReader } from './ocr.js';

/** Reads the words for models that ask for them. */
const WORDS = { model: 'tesseract', pictures: [], languages: [] };

/** Weights that are not here are a state of this machine, not a mistake of the caller. */
function asMissing(error: unknown): never {
  if (!(error instanceof Failure && error.kind === 'not_found')) throw error;
  throw new Failure('unavailable', error.message, { code: 'DocumentModelMissing', fields: error.fields ?? {}, cause: error });
}

async function holdModel(models: Models, { model: name, task }: ExtractRequest, signal: AbortSignal): Promise<Held<DocumentModel>> {
  const { id, folder, files, notes } = await findRepository(name, models.places).catch(asMissing);
  const graphs = openedGraphs(id, files).map((file) => join(folder, file));
  return models.hold(
    {
      key: `document:${task}:${id}`,
      type: `document_${task}`,
      name,
      sizeBytes: await graphBytes(graphs),
      load: (circuit, stop) =>
        DocumentClient.load({ name: id, folder, files, threads: defaultThreads() }, notes, circuit, stop).catch(asMissing),
    },
    signal,
  );
}

function promptFor({ prompts }: ExtractRequest, index: number): string | null {
  return prompts[index] ?? (prompts.length === 1 ? prompts[0]! : null);
}

/** Asks a model about images of documents, one after the other; words are read first for models that look at them. */
export async function askDocuments(models: Models, request: ExtractRequest, signal: AbortSignal): Promise<readonly DocumentAnswer[]> {
  const held = await holdModel(models, request, signal);
  let reader: Held<OcrReader> | undefined;
  const wordsOf = async (picture: Picture) => {
    reader ??= await holdReader(models, WORDS, signal);
    return (await reader.engine.read(picture, signal)).boxes;
  };
  try {
    const answers: DocumentAnswer[] = [];
    for (const [index, picture] of request.pictures.entries()) {
      const prompt = promptFor(request, index);
      const words = held.engine.needsWords ? { words: await wordsOf(picture) } : {};
      answers.push(await held.engine.ask({ picture, task: request.task, prompt, ...words }, signal));
    }
    return answers;
  } finally {
    reader?.release();
    held.release();
  }
}

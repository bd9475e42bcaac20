import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { realFile } from '../../base/files.js';
import type { EncoderTask } from '../../engines/contracts/encoder.js';
import { ggufBytes } from '../../formats/gguf/shards.js';
import { chooseFile } from '../../formats/gguf-names.js';
import { chooseOnnx, hasOnnx } from '../../formats/onnx-names.js';
import type { FoundModel, FoundRepository, ModelPlaces } from './contract.js';
import { findGguf } from './gguf.js';
import { splitName } from './names.js';
import { findRepository, withGraphs } from './repository.js';

/** What each task is called in messages. */
const TASK_VERBS: Readonly<Record<EncoderTask, string>> = {
  embedding: 'makes embeddings',
  reranking: 'reranks',
  classification: 'classifies',
  ner: 'finds entities',
};

/** The file that is the model, links followed, with the times when it and its tokenizer were written: another one where a file was put in its place, too. */
export async function encoderSource({ weights: [model], folder }: FoundModel): Promise<string> {
  const writtenAt = (path: string): Promise<number> =>
    stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    );
  const times = await Promise.all([model, join(folder, 'tokenizer.json')].map(writtenAt));
  return [await realFile(model), ...times].join(' ');
}

/** Throws `bad_request` for what no GGUF model does; whether a file ranks is told by its header, when it is loaded. */
function checkGguf(name: string, task: EncoderTask): void {
  if (task === 'embedding' || task === 'reranking') return;
  throw new Failure(
    'bad_request',
    `Model "${name}" is a GGUF model, which makes embeddings or reranks; name a model with ONNX files that ${TASK_VERBS[task]}.`,
    { code: 'TaskNotSupported' },
  );
}

/** A single GGUF file: a path, a built-in model, or a file of the models folder. */
async function findSingleFile(name: string, task: EncoderTask, places: ModelPlaces): Promise<FoundModel> {
  const found = await findGguf(name, places);
  checkGguf(name, task);
  return found;
}

async function findInRepository(name: string, task: EncoderTask, wish: string | null, found: FoundRepository): Promise<FoundModel> {
  const { id, folder, files, facts, source, repository } = found;
  const quantisation = found.quantisation ?? wish;
  const gguf = files.filter((file) => /\.gguf$/i.test(file));
  const onnx = files.filter((file) => /\.onnx$/i.test(file));
  // GGUF comes first where both are there, as in other tools, unless it cannot do the task or the wish names an ONNX file.
  const wantsOnnx = onnx.length > 0 && (task !== 'embedding' || (quantisation !== null && hasOnnx(onnx, quantisation)));
  const whole = wantsOnnx ? undefined : chooseFile(gguf, found.quantisation);
  if (whole) {
    checkGguf(name, task);
    const path = join(folder, whole.file);
    const notes = [...found.notes, ...(whole.note === null ? [] : [whole.note])];
    const sizeBytes = await ggufBytes(path);
    return { id, quantisation: found.quantisation, format: 'gguf', weights: [path], folder, sizeBytes, source, facts, notes };
  }
  const graph = chooseOnnx(onnx, quantisation);
  if (!graph) {
    const there = onnx.slice(0, 10).join(', ') || 'no .onnx file';
    throw new Failure(
      'invalid',
      `Model "${name}" (${repository}) has no file called model.onnx or model_*.onnx, as an encoder does; it has ${there}.`,
      { code: 'InvalidModelFile' },
    );
  }
  const notes = [...found.notes, ...(graph.note === null ? [] : [graph.note])];
  return { ...(await withGraphs(found, [graph.file])), quantisation, notes };
}

/**
 * Finds the files of an encoder: a repository or folder with ONNX or GGUF weights, else a single GGUF file. `wish` is the number
 * format of an ONNX file where the name has no quantisation. Throws `not_found` with the command that downloads it, `bad_request` where its weights cannot do the
 * task, `invalid` where no file can be told to be the model.
 */
export async function findEncoder(name: string, task: EncoderTask, wish: string | null, places: ModelPlaces): Promise<FoundModel> {
  if (/\.gguf$/i.test(name)) return findSingleFile(name, task, places);
  try {
    return await findInRepository(name, task, wish, await findRepository(name, places));
  } catch (error) {
    const isMissing = error instanceof Failure && error.kind === 'not_found' && !splitName(name).id.includes('/');
    if (!isMissing) throw error;
    // The message of the repository's search stays: it names the command.
    return await findSingleFile(name, task, places).catch((other: unknown) => {
      throw other instanceof Failure && other.kind === 'not_found' ? error : other;
    });
  }
}

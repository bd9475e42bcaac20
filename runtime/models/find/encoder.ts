import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { fileOf } from '../../base/paths.js';
import type { EncoderFiles, EncoderTask } from '../../engines/contracts/encoder.js';
import { chooseOnnx, hasOnnx } from '../../formats/encoder-graphs.js';
import { chooseFile } from '../../formats/gguf-names.js';
import { graphBytes } from '../../formats/onnx/graph-bytes.js';
import type { FoundRepository } from './contract.js';
import { findModel, type ModelPlaces } from './gguf.js';
import { splitName } from './names.js';
import { findRepository } from './repositories.js';

/** An encoder on disk. */
export interface LocatedEncoder {
  readonly id: string;
  /** As asked, upper case; null without a wish. */
  readonly quantisation: string | null;
  readonly files: EncoderFiles;
  /** Of the weights. */
  readonly sizeBytes: number;
  /** The file that is the model, links followed, with the times when it and its tokenizer were written: what else is loaded is let go. */
  readonly source: string;
}

/** What each task is called in messages. */
const DOES: Readonly<Record<EncoderTask, string>> = {
  embedding: 'makes embeddings',
  reranking: 'reranks',
  classification: 'classifies',
  ner: 'finds entities',
};

/** The first of the parts of a GGUF, by its name. */
const FIRST_SHARD = /-00001(-of-\d{5}\.gguf)$/i;

/** Bytes of the weights: a GGUF file with all its parts, an ONNX graph with what it keeps outside. */
async function sizeOf(model: string, format: EncoderFiles['format']): Promise<number> {
  if (format === 'onnx') return graphBytes([model]);
  const name = basename(model);
  const [stem, end] = [name.replace(FIRST_SHARD, '-'), FIRST_SHARD.exec(name)?.[1]];
  const beside = end === undefined ? [name] : await readdir(dirname(model)).catch(() => [name]);
  const own = beside.filter((file) => file === name || (end !== undefined && file.startsWith(stem) && file.endsWith(end)));
  const sizes = await Promise.all(
    own.map((file) =>
      stat(join(dirname(model), file)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Another one where a file was put in the place of one that was damaged, too. */
async function sourceOf({ model, folder }: EncoderFiles): Promise<string> {
  const writtenAt = (path: string): Promise<number> =>
    stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    );
  const times = await Promise.all([model, join(folder, 'tokenizer.json')].map(writtenAt));
  return [await fileOf(model), ...times].join(' ');
}

async function located(id: string, quantisation: string | null, files: EncoderFiles): Promise<LocatedEncoder> {
  return { id, quantisation, files, sizeBytes: await sizeOf(files.model, files.format), source: await sourceOf(files) };
}

/** Throws `bad_request` for what no GGUF model does; whether a file ranks is told by its header, when it is loaded. */
function checkGguf(name: string, task: EncoderTask): void {
  if (task === 'embedding' || task === 'reranking') return;
  throw new Failure(
    'bad_request',
    `Model "${name}" is a GGUF model, which makes embeddings or reranks; name a model with ONNX files that ${DOES[task]}.`,
    { code: 'TaskNotSupported' },
  );
}

/** A single GGUF file: a path, a built-in model, or a file of the models folder. */
async function single(name: string, task: EncoderTask, places: ModelPlaces): Promise<LocatedEncoder> {
  const { id, quantisation, path, notes } = await findModel(name, places);
  checkGguf(name, task);
  return located(id, quantisation, { name, format: 'gguf', model: path, folder: dirname(path), notes });
}

async function inRepository(name: string, task: EncoderTask, wish: string | null, found: FoundRepository): Promise<LocatedEncoder> {
  const { id, folder, files, facts, repository } = found;
  const quantisation = found.quantisation ?? wish;
  const gguf = files.filter((file) => /\.gguf$/i.test(file));
  const onnx = files.filter((file) => /\.onnx$/i.test(file));
  const rest = { name, ...(facts.pooling ? { pooling: facts.pooling } : {}), ...(facts.maxLength ? { maxLength: facts.maxLength } : {}) };
  // GGUF comes first where both are there, as in other tools, unless it cannot do the task or the wish names an ONNX file.
  const wantsOnnx = onnx.length > 0 && (task !== 'embedding' || (quantisation !== null && hasOnnx(onnx, quantisation)));
  const whole = wantsOnnx ? undefined : chooseFile(gguf, found.quantisation);
  if (whole) {
    checkGguf(name, task);
    const notes = [...found.notes, ...(whole.note === null ? [] : [whole.note])];
    return located(id, found.quantisation, { ...rest, format: 'gguf', model: join(folder, whole.file), folder, notes });
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
  return located(id, quantisation, { ...rest, format: 'onnx', model: join(folder, graph.file), folder, notes });
}

/**
 * Finds the files of an encoder: a repository or folder with ONNX or GGUF weights, else a single GGUF file. `wish` is the number
 * format of an ONNX file where the name has no quantisation. Throws `not_found` with the command that downloads it, `bad_request` where its weights cannot do the
 * task, `invalid` where no file can be told to be the model.
 */
export async function locateEncoder(name: string, task: EncoderTask, wish: string | null, places: ModelPlaces): Promise<LocatedEncoder> {
  if (/\.gguf$/i.test(name)) return single(name, task, places);
  try {
    return await inRepository(name, task, wish, await findRepository(name, places));
  } catch (error) {
    const isMissing = error instanceof Failure && error.kind === 'not_found' && !splitName(name).id.includes('/');
    if (!isMissing) throw error;
    // The message of the repository's search stays: it names the command.
    return await single(name, task, places).catch((other: unknown) => {
      throw other instanceof Failure && other.kind === 'not_found' ? error : other;
    });
  }
}

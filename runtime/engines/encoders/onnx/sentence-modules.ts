import { join, posix } from 'node:path';
import { Failure } from '../../../../schemas/errors.js';
import { folderName, type Json, readJsonFile } from '../../../formats/model-files.js';
import type { Pooling } from '../../contracts/encoder.js';
import { readGraph } from '../../onnx/graph.js';
import { DenseLayer } from './dense.js';
import { vectorOutput } from './pass.js';
import { unitVector } from './pooling.js';

/** Names of the ways of pooling in `1_Pooling/config.json`, as sentence-transformers writes them now. */
const MODES: Readonly<Record<string, Pooling>> = {
  cls: 'cls',
  mean: 'mean',
  mean_sqrt_len_tokens: 'mean_sqrt',
  max: 'max',
  lasttoken: 'last',
  weightedmean: 'weighted',
};
/** Older files have a line for each way, of which one is true. */
const LINES: Readonly<Record<string, string>> = {
  pooling_mode_cls_token: 'cls',
  pooling_mode_mean_tokens: 'mean',
  pooling_mode_mean_sqrt_len_tokens: 'mean_sqrt_len_tokens',
  pooling_mode_max_tokens: 'max',
  pooling_mode_lasttoken: 'lasttoken',
  pooling_mode_weightedmean_tokens: 'weightedmean',
};
/** What modules read and write where their files say nothing. */
const VECTOR = 'sentence_embedding';

/** First modules that no graph of an encoder stands for. */
const OTHER_BEGINNINGS = ['Router', 'Asym', 'BoW', 'WordEmbeddings', 'StaticEmbedding', 'CLIPModel', 'CNN', 'LSTM'];
/** Modules that are known after pooling. */
const AFTER = ['Dense', 'Normalize', 'Dropout'];

/** A part of a sentence model. */
export interface Module {
  /** Its folder in the model's; empty = that itself. */
  readonly path: string;
  readonly type: string;
}

/** A change of a text's vector after pooling. */
export interface VectorStep {
  /** Dimensions of what comes out. */
  readonly outputs: number;
  apply(vector: Float32Array): Float32Array;
}

const nameOf = ({ type }: Module): string => type.split('.').at(-1)!;
const isDense = (module: Module): boolean => nameOf(module) === 'Dense';
const wrongModules = (msg: string): Failure => new Failure('invalid', msg, { code: 'InvalidModelFile' });

/** The modules that a model's `modules.json` names, in order; none without that file. Throws `Failure('invalid')` for a list that cannot be read. */
export function modulesOf(folder: string): Module[] {
  const list: unknown = readJsonFile(folder, 'modules.json');
  if (!Array.isArray(list)) return [];
  return list.flatMap((item: Partial<Module> | null) => {
    if (typeof item?.path !== 'string' || typeof item.type !== 'string') return [];
    if (!/^[\w.-]*$/.test(item.path) || item.path === '..')
      throw wrongModules(`modules.json names the folder "${item.path}"; only folders beside it are read.`);
    return [{ path: item.path, type: item.type }];
  });
}

/** The folders of dense layers that a model's `modules.json` names, in order. Throws as `modulesOf` does. */
const denseFolders = (folder: string): string[] =>
  modulesOf(folder)
    .filter(isDense)
    .map(({ path }) => path);

/** How the model's own file says that token vectors become one; undefined where it does not. Throws `Failure('invalid')` for what is not supported. */
export function poolingOf(folder: string, modules: readonly Module[]): Pooling | undefined {
  const place = modules.find((module) => nameOf(module) === 'Pooling')?.path ?? '1_Pooling';
  const config = readJsonFile(folder, join(place, 'config.json'));
  if (!config) return undefined;
  const modes = modesOf(config);
  if (modes.length > 1)
    throw wrongModules(`${place}/config.json asks for ${modes.join(' and ')} at once; one way of pooling is supported.`);
  const [mode] = modes;
  if (mode === undefined) return undefined;
  if (Object.hasOwn(MODES, mode)) return MODES[mode];
  throw wrongModules(`${place}/config.json asks for the pooling "${mode}"; known are ${Object.keys(MODES).join(', ')}.`);
}

/** The newer form goes before the older one, as in sentence-transformers. */
function modesOf({ pooling_mode, ...config }: Json): string[] {
  if (pooling_mode !== undefined && pooling_mode !== null) return [pooling_mode].flat().map(String);
  return Object.keys(LINES).flatMap((line) => (config[line] === true ? [LINES[line]!] : []));
}

/**
 * What a model's modules do to vectors of `width` numbers that were pooled, in order. Throws `Failure('invalid')` that names the module where one
 * is not known, or stands where it is not, since without it vectors would be others.
 */
export function vectorSteps(folder: string, modules: readonly Module[], width: number): VectorStep[] {
  const pooling = modules.findIndex((module) => nameOf(module) === 'Pooling');
  const steps: VectorStep[] = [];
  for (const [at, module] of modules.entries()) {
    const before = steps.at(-1)?.outputs ?? width;
    const name = nameOf(module);
    // The graph stands for the first module, whatever its author called it.
    if (at === pooling || (at === 0 && ![...AFTER, ...OTHER_BEGINNINGS].includes(name))) continue;
    if (at < pooling || !AFTER.includes(name)) throw unknownModule(folder, module, at < pooling ? 'before Pooling' : 'after Pooling');
    // Such models compare tokens, not texts (ColBERT).
    if (pooling === -1 && name === 'Dense') throw unknownModule(folder, module, 'without a Pooling before it');
    if (name !== 'Dropout') readsVector(folder, module);
    if (name === 'Dense') steps.push(new DenseLayer(folder, module.path, before));
    // In the end all vectors come to length 1.
    if (name === 'Normalize' && modules.slice(at).some(isDense)) steps.push({ outputs: before, apply: unitVector });
  }
  return steps;
}

function unknownModule(folder: string, module: Module, place: string): Failure {
  const named = `modules.json of ${folderName(folder)} has the module ${nameOf(module)} ("${module.path}") ${place}`;
  const known = 'known are Dense, Normalize and Dropout after Pooling';
  return wrongModules(
    `${named}, where it is not supported; ${known}. Use an ONNX export whose graph gives ${VECTOR}, and so has all modules in it.`,
  );
}

/** Throws where a module is for anything but the vector of a text. */
function readsVector(folder: string, { path }: Module): void {
  const file = join(path, 'config.json');
  const config = readJsonFile(folder, file) ?? {};
  const input = config.module_input_name ?? VECTOR;
  const output = config.module_output_name ?? input;
  if (input === VECTOR && output === VECTOR) return;
  throw wrongModules(
    `${file} of ${folderName(folder)} reads ${String(input)} and writes ${String(output)}; only modules of ${VECTOR} are supported.`,
  );
}

/** Dimensions of an output with a vector for each text. */
const POOLED = 2;

/** Whether a graph pools by itself; not where its file does not say. */
function poolsItself(graph: string): boolean {
  const { outputs } = readGraph(graph);
  const vectors = vectorOutput(outputs.map(({ name }) => name));
  return outputs.some(({ name, dims }) => name === vectors && dims.length === POOLED);
}

/**
 * The weights of dense layers that a model names and its folder lacks, relative to it; none where the graph pools by itself, which uses none, nor of a
 * `modules.json` that cannot be read, since opening says what is wrong with it. For graphs that `inspectGraph` has found to be sound.
 */
export function missingDenseWeights(folder: string, files: ReadonlySet<string>, graphs: readonly string[]): string[] {
  let layers: string[] = [];
  try {
    layers = denseFolders(folder);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  }
  const lacking = layers.map((layer) => posix.join(layer, 'model.safetensors')).filter((file) => !files.has(file));
  return lacking.length === 0 || graphs.every(poolsItself) ? [] : lacking;
}

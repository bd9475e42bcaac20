import { isAbsolute, posix } from 'node:path';
import { howToFetch, modelMissing } from './model-files.js';

/** What follows a graph's own name where its weights are stored in another way, such as `model_q4f16.onnx`. */
const VARIANT = /^(.+?)[_-](fp32|bf16|fp16|u?int8|quantized|q8|q8f16|q4|q4f16|q2|q2f16|q1|q1f16|int4|bnb4|o[1-4]|qu?int8(?:_\w+)?)$/i;
/** What exporters write behind a graph's name, by the number format that was asked for; the closest first, empty for nothing. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  F32: ['', 'fp32'],
  FP32: ['', 'fp32'],
  F16: ['fp16'],
  FP16: ['fp16'],
  BF16: ['bf16'],
  INT8: ['int8', 'quantized', 'q8', 'qint8'],
  Q8: ['q8', 'quantized', 'int8', 'qint8'],
  Q8_0: ['q8', 'quantized', 'int8', 'qint8'],
  UINT8: ['uint8', 'quint8'],
  INT4: ['int4', 'q4', 'q4f16', 'bnb4'],
  Q4: ['q4', 'int4', 'q4f16', 'bnb4'],
  Q4_0: ['q4', 'int4', 'q4f16', 'bnb4'],
};
/** What is taken where nothing is asked for, or what was asked for is not there: the weights as they were trained, else the next best. */
const PREFERENCE = ['', 'fp32', 'fp16', 'bf16', 'int8', 'quantized', 'q8', 'uint8', 'q4f16', 'q4'];
/** Processors in the names of files that were made for one, as Node calls them. */
const PROCESSORS: readonly (readonly [arch: string, name: RegExp])[] = [
  ['arm64', /_(?:arm64|aarch64|neon)(?=_|$)/],
  ['x64', /_(?:avx\d*|vnni|sse\d*|x64|x86)(?=_|$)/],
];
/** Formats of GGUF files, which clients put behind the names of ONNX models too: a wish, since no export has them. */
const OF_GGUF = /^(?:UD-)?(?:I?Q|TQ|MXFP)\d/;
const EXPORTED: ReadonlySet<string> = new Set(['Q8', 'Q8F16', 'Q4', 'Q4F16', 'Q2', 'Q2F16', 'Q1', 'Q1F16']);
/** File names in a message. */
const SHOWN = 10;

const stemOf = (file: string): string => posix.basename(file).replace(/\.onnx$/i, '');
/** Which graph of a model a file holds, in whatever format: `encoder_model` for `onnx/encoder_model_q4.onnx`. */
export const graphName = (file: string): string => VARIANT.exec(stemOf(file))?.[1] ?? stemOf(file);

/** Lower case; empty for weights as they were trained. */
function formatOf(file: string): string {
  const stem = stemOf(file);
  return (VARIANT.exec(stem)?.[2] ?? /^model[_-](.+)$/i.exec(stem)?.[1] ?? '').toLowerCase();
}

/** The number format that a graph's file name tells, in upper case; null for weights as they were trained. */
export const formatName = (file: string): string | null => formatOf(file).toUpperCase() || null;

/** Exports put graphs into `onnx/`, older ones beside the configuration. */
const depth = (file: string): number => (/^onnx\/[^/]+$/.test(file) ? 0 : file.split('/').length);

/** The ONNX files among those of a repository, what lies in `onnx/` first. */
export const onnxFiles = (files: readonly string[]): string[] =>
  files.filter((file) => /\.onnx$/i.test(file)).sort((a, b) => depth(a) - depth(b));

/** Whether a file lies in a model's folder or in `onnx/` there; a graph further down belongs to something else. */
export const isNear = (file: string): boolean => /^(?:onnx\/)?[^/]+$/.test(file);

/** A graph or its file as messages name it: with its folder where that tells which of several of one name it is. */
const withFolder = (file: string, name: string): string => (isNear(file) ? name : posix.join(posix.dirname(file), name));

/** The files that hold one graph of a model, one for each format. */
export const graphFiles = (files: readonly string[], graph: string): string[] =>
  onnxFiles(files).filter((file) => graphName(file) === graph);

/** Whether a quantisation (upper case) is one of GGUF files that no ONNX export is called by. */
export const isGgufFormat = (named: string): boolean => OF_GGUF.test(named) && !EXPORTED.has(named);

/** What is opened or fetched of a model: a file for each of its graphs. */
export interface FormatChoice {
  readonly files: string[];
  /** Names of the graphs that are not there in the format asked for; the next best of them is taken. */
  readonly without: string[];
}

/**
 * Chooses a file for each graph of a model from those that hold it (at least one each): the wanted format (upper case), else the best one
 * that all have, else each its best. Whoever fetches or opens graphs chooses here, so that what is fetched is found.
 */
export function chooseFormat(graphs: readonly (readonly string[])[], wanted: string | null): FormatChoice {
  const names = wanted === null ? [] : (NAMES[wanted] ?? [wanted.toLowerCase()]);
  const named = graphs.map((files) => names.map((name) => fileOfFormat(files, name)).find((file) => file !== undefined));
  const missed = graphs.filter((_, index) => named[index] === undefined);
  const others = bestCommonFormat(missed);
  return {
    files: named.map((file, index) => file ?? others[missed.indexOf(graphs[index]!)]!),
    without: wanted === null ? [] : missed.map(([file]) => withFolder(file!, graphName(file!))),
  };
}

/** The same for a model that is opened by its name. Throws `not_found` with the command that fetches the named format where it is not there. */
export function chooseNamed(id: string, graphs: readonly (readonly string[])[], named: string | null): string[] {
  const { files, without } = chooseFormat(graphs, named);
  if (without.length === 0 || (named !== null && isGgufFormat(named))) return files;
  const there = graphs.flat().map((file) => withFolder(file, posix.basename(file)));
  throw modelMissing(id, {
    why: `it has no ${named} on this machine for ${without.join(', ')}; it has ${[...new Set(there)].slice(0, SHOWN).join(', ')}`,
    remedies: ['name one that is there or none', ...(isAbsolute(id) ? [] : [howToFetch(`${id}:${named}`)])],
  });
}

/** How well a file suits this machine: 0 for one made for its processor, 1 for any, 2 for another's, which runs too. */
function processorMismatch(file: string): number {
  const made = PROCESSORS.filter(([, name]) => name.test(formatOf(file)));
  if (made.length === 0) return 1;
  return made.some(([arch]) => arch === process.arch) ? 0 : 2;
}

const ownProcessorFirst = (files: readonly string[]): string[] => [...files].sort((a, b) => processorMismatch(a) - processorMismatch(b));

function fileOfFormat(files: readonly string[], name: string): string | undefined {
  const exact = files.find((file) => formatOf(file) === name);
  // One that goes on with a machine's name, such as `qint8_avx512_vnni`.
  return exact ?? (name === '' ? undefined : ownProcessorFirst(files.filter((file) => formatOf(file).startsWith(`${name}_`)))[0]);
}

function bestCommonFormat(graphs: readonly (readonly string[])[]): string[] {
  for (const name of [...PREFERENCE, ...ownProcessorFirst(graphs.flat()).map(formatOf)]) {
    if (graphs.some((candidates) => fileOfFormat(candidates, name) === undefined)) continue;
    return graphs.map((candidates) => fileOfFormat(candidates, name)!);
  }
  return graphs.map((files) => bestCommonFormat([files])[0]!);
}

// Names of graphs as exporters write them, whatever their format.
/** Reads what a decoder writes about. */
export const ENCODER = 'encoder_model';
/** Serves with and without keys and values of what came before. */
export const MERGED = 'decoder_model_merged';
/** Writes the first token, from nothing. */
export const FIRST = 'decoder_model';
/** Writes the tokens after it, from keys and values. */
export const LATER = 'decoder_with_past_model';

/** What follows a graph's own name in that of its file, such as `_q4.onnx`. */
const formatEnding = (file: string): string => posix.basename(file).slice(graphName(file).length);

/** The files that have the ending of one of others. */
const withSameEnding = (files: readonly string[], others: readonly string[]): readonly string[] =>
  files.filter((file) => others.some((other) => formatEnding(other) === formatEnding(file)));

/** Of graphs that can each stand alone, the better one first: the files of the first that has the wanted format. */
export const withFormat = (graphs: readonly (readonly string[])[], wanted: string | null): readonly string[] | undefined =>
  graphs.find((files) => chooseFormat([files], wanted).without.length === 0);

/**
 * The files of each graph of a decoder, in the one form in which it is opened, and so fetched. Beside an encoder: the form that has the wanted format,
 * else the best that the encoder has too; merged where both forms have it, split in the formats that both graphs have. Without one, for text generation:
 * merged, unless only the graph that takes past keys and values has the wanted format; a beginning is not opened there.
 */
export function decoderFiles(files: readonly string[], wanted: string | null): (readonly string[])[] {
  const of = (name: string): string[] => graphFiles(files, name);
  const [encoder, merged, first, later] = [of(ENCODER), of(MERGED), of(FIRST), of(LATER)];
  const held = (...graphs: (readonly string[])[]): (readonly string[])[] => graphs.filter((there) => there.length > 0);
  if (encoder.length === 0) return held(withFormat(held(merged, later), wanted) ?? held(merged, later, first)[0] ?? []);
  const begins = later.length === 0 ? first : withSameEnding(first, later);
  const forms = [...merged, ...begins];
  if (forms.length === 0) return held(first, later);
  const chosen = chooseFormat([forms, encoder], wanted).files[0]!;
  return merged.includes(chosen) ? [merged] : held(begins, withSameEnding(later, begins));
}

/** A choice among the ONNX files of a repository. */
interface OnnxChoice {
  /** Relative, as it was listed. */
  readonly file: string;
  /** Said where the wanted format is not there. */
  readonly note: string | null;
}

/** `model.onnx`, or one with more behind `model_`. */
const isModel = (file: string): boolean => /^model(?:[_-].+)?\.onnx$/i.test(posix.basename(file));

/**
 * Picks the graph of an encoder among the files of its repository: the wanted number format, else `model.onnx`, else the next best; what
 * lies in `onnx/` comes first. Undefined where no file can be told to be the one.
 */
export function chooseOnnx(files: readonly string[], wanted: string | null): OnnxChoice | undefined {
  const all = onnxFiles(files);
  // Variants of the graph itself, such as `model_no_gather_q4.onnx`, only where there is no other.
  const plain = graphFiles(files, 'model');
  const known = plain.length > 0 ? plain : all.filter(isModel);
  if (known.length === 0) return all.length === 1 ? { file: all[0]!, note: null } : undefined;
  const choice = chooseFormat([known], wanted);
  const file = choice.files[0]!;
  const there = known.map((one) => posix.basename(one)).join(', ');
  return { file, note: choice.without.length === 0 ? null : `${wanted} is not there (${there}); ${posix.basename(file)} is used.` };
}

/** True where one of the files has just this number format. */
export function hasOnnx(files: readonly string[], wanted: string): boolean {
  const choice = chooseOnnx(files, wanted);
  return choice !== undefined && choice.note === null && isModel(choice.file);
}

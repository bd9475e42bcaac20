import { posix } from 'node:path';
import { chooseFormat, graphFiles, graphName, onnxFiles } from './onnx-names.js';

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
const ending = (file: string): string => posix.basename(file).slice(graphName(file).length);

/** The files that have the ending of one of others. */
const sharing = (files: readonly string[], others: readonly string[]): readonly string[] =>
  files.filter((file) => others.some((other) => ending(other) === ending(file)));

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
  const begins = later.length === 0 ? first : sharing(first, later);
  const forms = [...merged, ...begins];
  if (forms.length === 0) return held(first, later);
  const chosen = chooseFormat([forms, encoder], wanted).files[0]!;
  return merged.includes(chosen) ? [merged] : held(begins, sharing(later, begins));
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

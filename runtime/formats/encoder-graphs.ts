import { posix } from 'node:path';
import { chooseFormat, graphFiles, onnxFiles } from './onnx-names.js';

/** A choice among the ONNX files of a repository. */
export interface OnnxChoice {
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

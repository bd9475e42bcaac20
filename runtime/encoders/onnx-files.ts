import { posix } from 'node:path';
import { inFormat } from '../models/onnx-formats.js';

/** A choice among the ONNX files of a repository. */
export interface OnnxChoice {
  /** Relative, as it was listed. */
  readonly file: string;
  /** Said where the wanted format is not there. */
  readonly note: string | null;
}

interface Candidate {
  readonly file: string;
  /** What stands after `model_`; empty for `model.onnx`, undefined for files that are called something else. */
  readonly variant: string | undefined;
}

function candidate(file: string): Candidate {
  const match = /^model(?:[_-](.+))?\.onnx$/i.exec(posix.basename(file));
  return { file, variant: match ? (match[1] ?? '').toLowerCase() : undefined };
}

/**
 * Picks the graph of an encoder among the files of its repository: the wanted number format, else `model.onnx`, else the next best; what
 * lies in `onnx/` comes first. Undefined where no file can be told to be the one.
 */
export function chooseOnnx(files: readonly string[], wanted: string | null): OnnxChoice | undefined {
  const all = files.filter((file) => /\.onnx$/i.test(file)).sort((a, b) => depth(a) - depth(b));
  const known = all.map(candidate).filter(({ variant }) => variant !== undefined);
  if (known.length === 0) return all.length === 1 ? { file: all[0]!, note: null } : undefined;
  const find = (format: string | null) => inFormat(known, ({ variant }) => variant!, format)?.file;
  const exact = wanted === null ? undefined : find(wanted);
  if (exact !== undefined) return { file: exact, note: null };
  const file = find(null) ?? known[0]!.file;
  const there = known.map((one) => posix.basename(one.file)).join(', ');
  return { file, note: wanted === null ? null : `${wanted} is not there (${there}); ${posix.basename(file)} is used.` };
}

/** True where one of the files has just this number format. */
export function hasOnnx(files: readonly string[], wanted: string): boolean {
  const choice = chooseOnnx(files, wanted);
  return choice !== undefined && choice.note === null && candidate(choice.file).variant !== undefined;
}

/** Exports put graphs into `onnx/`, older ones beside the configuration. */
function depth(file: string): number {
  if (file.startsWith('onnx/') && file.indexOf('/') === file.lastIndexOf('/')) return 0;
  return file.split('/').length;
}

import { posix } from 'node:path';
import { inFormat } from '../models/onnx-formats.js';

/** What follows a graph's own name where its weights are stored in another way, such as `model_q4f16.onnx`. */
const VARIANT = /^(.+?)[_-](fp32|bf16|fp16|u?int8|quantized|q8|q8f16|q4|q4f16|q2|q2f16|q1|q1f16|int4|bnb4|o[1-4]|qu?int8(?:_\w+)?)$/i;
/** The graphs of a model to fetch: one file for each of its parts. */
export interface GraphChoice {
  readonly files: readonly string[];
  /** Parts that do not have the format asked for. */
  readonly without: readonly string[];
}

const stemOf = (file: string): string => posix.basename(file).replace(/\.onnx$/i, '');
const variantOf = (file: string): string => VARIANT.exec(stemOf(file))?.[2]?.toLowerCase() ?? '';
const partOf = (file: string): string => `${posix.dirname(file)}/${VARIANT.exec(stemOf(file))?.[1] ?? stemOf(file)}`;

/**
 * Chooses among the ONNX files of a repository: what lies in `onnx/` where it has that folder (pipelines have a folder for each part), each
 * part once, in the wanted format where it has it. A decoder that also comes merged with its cached form is taken merged only.
 */
export function chooseGraphs(files: readonly string[], wanted: string | null): GraphChoice {
  const all = files.filter((file) => /\.onnx$/i.test(file));
  const isPipeline = files.includes('model_index.json');
  const exported = all.filter((file) => file.startsWith('onnx/'));
  const parts = new Map<string, string[]>();
  for (const file of isPipeline || exported.length === 0 ? all : exported)
    parts.set(partOf(file), [...(parts.get(partOf(file)) ?? []), file]);
  for (const part of [...parts.keys()]) {
    const isSplit = /\/decoder(?:_with_past)?_model$/.test(part);
    if (isSplit && parts.has(`${posix.dirname(part)}/decoder_model_merged`)) parts.delete(part);
  }
  const without: string[] = [];
  const chosen = [...parts].map(([part, candidates]) => {
    const exact = wanted === null ? undefined : inFormat(candidates, variantOf, wanted);
    if (wanted !== null && exact === undefined) without.push(posix.basename(part));
    return exact ?? inFormat(candidates, variantOf, null) ?? candidates[0]!;
  });
  return { files: chosen, without };
}

/** Whether a file holds weights that a graph keeps beside itself, by the names that exporters give. */
export function isExternal(file: string, graph: string): boolean {
  if (posix.dirname(file) !== posix.dirname(graph)) return false;
  const [name, own] = [posix.basename(file), posix.basename(graph)];
  return name.startsWith(`${own}_data`) || name === `${own}.data` || name === `${stemOf(graph)}.data` || name === 'weights.pb';
}

import { posix } from 'node:path';
import { chooseFormat, type FormatChoice, graphName } from '../engines/onnx-formats.js';

const MERGED = 'decoder_model_merged';
const FIRST = 'decoder_model';
const LATER = 'decoder_with_past_model';
const ENCODER = 'encoder_model';

const partOf = (file: string): string => `${posix.dirname(file)}/${graphName(file)}`;

/**
 * Keeps one form of a decoder that a folder holds both merged and split: merged, unless only the split one has the wanted format. Text
 * generation opens no split one without the graph that takes past keys and values.
 */
function keepOneDecoder(parts: Map<string, readonly string[]>, folder: string, wanted: string | null): void {
  const held = (...graphs: string[]): string[] => graphs.map((graph) => `${folder}/${graph}`).filter((part) => parts.has(part));
  const [merged, split] = [held(MERGED), held(FIRST, LATER)];
  if (merged.length === 0 || split.length === 0) return;
  const has = (form: readonly string[]): boolean => {
    const graphs = form.map((part) => parts.get(part)!);
    return chooseFormat(graphs, wanted).without.length === 0;
  };
  const isSplit = has(split) && !has(merged) && held(LATER, ENCODER).length > 0;
  for (const part of isSplit ? merged : split) parts.delete(part);
}

/**
 * Chooses among the ONNX files of a repository: what lies in `onnx/` where it has that folder (pipelines have a folder for each part), each
 * part once, in the wanted format where it has it. A decoder that comes merged and split is taken in one form, and of `model.onnx` no
 * variants.
 */
export function chooseGraphs(files: readonly string[], wanted: string | null): FormatChoice {
  const all = files.filter((file) => /\.onnx$/i.test(file));
  const isPipeline = files.includes('model_index.json');
  const exported = all.filter((file) => file.startsWith('onnx/'));
  const parts = new Map<string, string[]>();
  for (const file of isPipeline || exported.length === 0 ? all : exported)
    parts.set(partOf(file), [...(parts.get(partOf(file)) ?? []), file]);
  for (const folder of new Set([...parts.keys()].map((part) => posix.dirname(part)))) keepOneDecoder(parts, folder, wanted);
  for (const part of [...parts.keys()]) {
    // The same graph made in another way, such as `model_no_gather_q4.onnx`.
    if (/\/model[_-][^/]+$/.test(part) && parts.has(`${posix.dirname(part)}/model`)) parts.delete(part);
  }
  return chooseFormat([...parts.values()], wanted);
}

/** Whether a file holds weights that a graph keeps beside itself, by the names that exporters give. */
export function isExternal(file: string, graph: string): boolean {
  if (posix.dirname(file) !== posix.dirname(graph)) return false;
  const [name, own] = [posix.basename(file), posix.basename(graph)];
  const stem = own.replace(/\.onnx$/i, '');
  return name.startsWith(`${own}_data`) || name === `${own}.data` || name === `${stem}.data` || name === 'weights.pb';
}

import { posix } from 'node:path';
import { chooseFormat, type FormatChoice, graphName } from '../engines/onnx-formats.js';

const partOf = (file: string): string => `${posix.dirname(file)}/${graphName(file)}`;

/**
 * Chooses among the ONNX files of a repository: what lies in `onnx/` where it has that folder (pipelines have a folder for each part), each
 * part once, in the wanted format where it has it. A decoder that also comes merged with its cached form is taken merged only,
 * and of `model.onnx` no variants.
 */
export function chooseGraphs(files: readonly string[], wanted: string | null): FormatChoice {
  const all = files.filter((file) => /\.onnx$/i.test(file));
  const isPipeline = files.includes('model_index.json');
  const exported = all.filter((file) => file.startsWith('onnx/'));
  const parts = new Map<string, string[]>();
  for (const file of isPipeline || exported.length === 0 ? all : exported)
    parts.set(partOf(file), [...(parts.get(partOf(file)) ?? []), file]);
  for (const part of [...parts.keys()]) {
    const isSplit = /\/decoder(?:_with_past)?_model$/.test(part);
    if (isSplit && parts.has(`${posix.dirname(part)}/decoder_model_merged`)) parts.delete(part);
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

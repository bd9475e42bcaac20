import { posix } from 'node:path';
import { decoderFiles, ENCODER, FIRST, LATER, MERGED } from '../engines/decoder-graphs.js';
import { chooseFormat, type FormatChoice, graphName } from '../engines/onnx-formats.js';

const partOf = (file: string): string => `${posix.dirname(file)}/${graphName(file)}`;

/** Of a folder's decoder, keeps the graphs and formats that would be opened if all were there, beside the folder's encoder or the one that lies elsewhere. */
function keepOneDecoder(parts: Map<string, readonly string[]>, folder: string, elsewhere: readonly string[], wanted: string | null): void {
  const [encoder = elsewhere, ...decoder] = [ENCODER, MERGED, FIRST, LATER].map((name) => parts.get(`${folder}/${name}`));
  const among = [encoder, ...decoder].flatMap((files) => files ?? []);
  const kept = new Map(decoderFiles(among, wanted).map((files) => [partOf(files[0]!), files]));
  for (const part of [MERGED, FIRST, LATER].map((name) => `${folder}/${name}`)) {
    const files = kept.get(part);
    if (files) parts.set(part, files);
    else parts.delete(part);
  }
}

/**
 * Chooses among the ONNX files of a repository: what lies in `onnx/` where it has that folder (pipelines have a folder for each part), each
 * part once, in the wanted format where it has it. A decoder is taken in the one form that is opened, and of `model.onnx` no variants.
 */
export function chooseGraphs(files: readonly string[], wanted: string | null): FormatChoice {
  const all = files.filter((file) => /\.onnx$/i.test(file));
  const isPipeline = files.includes('model_index.json');
  const exported = all.filter((file) => file.startsWith('onnx/'));
  const parts = new Map<string, readonly string[]>();
  for (const file of isPipeline || exported.length === 0 ? all : exported)
    parts.set(partOf(file), [...(parts.get(partOf(file)) ?? []), file]);
  const elsewhere = [...parts].find(([part]) => posix.basename(part) === ENCODER)?.[1] ?? [];
  for (const folder of new Set([...parts.keys()].map((part) => posix.dirname(part)))) keepOneDecoder(parts, folder, elsewhere, wanted);
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

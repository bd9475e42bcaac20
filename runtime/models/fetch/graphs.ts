import { posix } from 'node:path';
import { chooseFormat, decoderFiles, ENCODER, FIRST, type FormatChoice, graphName, LATER, MERGED } from '../../formats/onnx-names.js';

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

/** Weights that graphs keep beside themselves, by the names that exporters give: those of one graph, or of all in their folder. */
const OF_GRAPH = /^(.+\.onnx)_data|^(.+?)(?:\.onnx)?\.data$/i;
const OF_FOLDER = 'weights.pb';

/** The files of a listing that hold weights of a graph; each file is looked at once, however many graphs are asked for. */
export function externals<T extends { readonly path: string }>(files: readonly T[]): (graph: string) => readonly T[] {
  const held = new Map<string, T[]>();
  for (const file of files) {
    const [name, folder] = [posix.basename(file.path), posix.dirname(file.path)];
    const [, graph, stem] = OF_GRAPH.exec(name) ?? [];
    if (graph === undefined && stem === undefined && name !== OF_FOLDER) continue;
    const owner = posix.join(folder, name === OF_FOLDER ? OF_FOLDER : (graph ?? `${stem}.onnx`));
    const others = held.get(owner) ?? [];
    held.set(owner, others);
    others.push(file);
  }
  return (graph) => [...(held.get(graph) ?? []), ...(held.get(posix.join(posix.dirname(graph), OF_FOLDER)) ?? [])];
}

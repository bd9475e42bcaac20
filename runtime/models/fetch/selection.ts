import { posix } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { chooseFile, holdsModel, isImportanceMatrix, quantisationOf, shardNumber, shardSet } from '../../formats/gguf-names.js';
import {
  chooseFormat,
  decoderFiles,
  ENCODER,
  FIRST,
  type FormatChoice,
  formatName,
  graphName,
  LATER,
  MERGED,
} from '../../formats/onnx-names.js';
import { looksLikeSherpa, sherpaGraphs } from '../../formats/sherpa-folder.js';
import type { RemoteFile } from '../cache/layout.js';

/** Asked for instead of a quantisation, it fetches the projector of a model for images or sound. */
const PROJECTOR = /^MMPROJ(?:-(.+))?$/;

const PRECISIONS = ['F16', 'BF16', 'FP16', 'F32', 'FP32'];

/** Settings, vocabularies and licences: what an engine reads beside the weights. */
const COMPANION = /(?:\.(?:json|jsonl|txt|model|spm|bpe|tiktoken|jinja|ya?ml)|(?:^|\/)(?:LICENSE|NOTICE)[^/]*)$/i;

const COMPANION_BYTES = 64 * 1024 * 1024;

/** Weights of the layers that sentence models have after pooling, which stand in no graph. */
const DENSE_LAYER = /^\d+_Dense\w*\/model\.safetensors$/;

/** The voices of a model that speaks, as far as their language is read here: American and British English. */
const VOICE = /^voices\/[ab][fm]_[a-z0-9]{1,30}\.bin$/;

/** Stands beside graphs that are made for ONNX Runtime GenAI, one folder of them for each kind of machine. */
const GEN_AI = /^(.+)\/genai_config\.json$/;

/** What of a repository is fetched. */
export interface Selection {
  readonly files: readonly RemoteFile[];
  /** Where a graph may keep weights under any name: what else lies in the folders of the graphs. */
  readonly beside: readonly RemoteFile[];
  readonly format: 'gguf' | 'onnx' | 'ggml' | 'ctranslate2';
  /** The file with the weights, or the first of several. */
  readonly main: string;
  readonly quantisation: string | null;
  /** Where something else was asked for than is there. */
  readonly note: string | null;
}

/**
 * Chooses what of a repository is fetched: of GGUF files the one quantisation with all its shards, of ONNX exports the graphs of the wanted
 * format with their outside weights, dense layers after pooling and what lies beside them; weights of other frameworks never. Null where nothing runs here.
 */
export function selectFiles(repository: string, files: readonly RemoteFile[], wanted: string | null): Selection | null {
  const usable = files.filter(({ sizeBytes }) => sizeBytes > 0);
  const exported = (): Selection | null => {
    // One that was exported for others too, such as with a tokenizer, is fetched for those.
    const sherpa =
      wanted === null && !usable.some(({ path }) => path === 'tokenizer.json' || path.startsWith('onnx/')) ? selectSherpa(usable) : null;
    if (sherpa) return sherpa;
    const graphs = withoutGenAi(usable);
    return graphs.some(({ path }) => /\.onnx$/i.test(path)) ? selectOnnx(graphs, wanted) : null;
  };
  if (!usable.some(({ path }) => /\.gguf$/i.test(path) && !isImportanceMatrix(path))) return exported() ?? selectWhisper(usable);
  // Where both are there, a format that only the ONNX files have is theirs.
  if (wanted !== null && !PROJECTOR.test(wanted) && (chooseFile(ggufPaths(usable), wanted)?.note ?? null) !== null) {
    const other = exported();
    if (other?.note === null && formatName(other.main) !== null) return other;
  }
  return selectGguf(repository, usable, wanted);
}

/** The files without those of folders for ONNX Runtime GenAI, of which none is opened here; what it has at the top or in `onnx/` is. */
function withoutGenAi(files: readonly RemoteFile[]): RemoteFile[] {
  const folders = new Set(files.flatMap(({ path }) => GEN_AI.exec(path)?.slice(1) ?? []).filter((folder) => folder !== 'onnx'));
  return files.filter(({ path }) => !folders.has(posix.dirname(path)));
}

function projector(files: readonly RemoteFile[], wanted: string | undefined): RemoteFile | undefined {
  const all = files.filter(({ path }) => /mmproj[^/]*\.gguf$/i.test(path));
  const of = (precision: string): RemoteFile | undefined => all.find(({ path }) => quantisationOf(path) === precision);
  return wanted === undefined ? (PRECISIONS.map(of).find((file) => file !== undefined) ?? all[0]) : of(wanted);
}

/** All shards of the set that a file belongs to, or the file alone. */
function shardsOf(path: string, files: readonly RemoteFile[]): RemoteFile[] {
  const set = shardSet(path);
  return files.filter((file) => shardSet(file.path) === set);
}

const ggufPaths = (files: readonly RemoteFile[]): string[] => files.map(({ path }) => path).filter((path) => /\.gguf$/i.test(path));

function selectGguf(repository: string, files: readonly RemoteFile[], wanted: string | null): Selection {
  const asked = wanted === null ? null : PROJECTOR.exec(wanted);
  if (asked) {
    const found = projector(files, asked[1]);
    if (found)
      return { files: [found], beside: [], format: 'gguf', main: found.path, quantisation: quantisationOf(found.path), note: null };
    throw new Failure('not_found', `${repository} has no projector ${wanted} (a .gguf file with mmproj in its name).`, {
      code: 'ModelNotFound',
    });
  }
  const choice = chooseFile(ggufPaths(files), wanted);
  if (!choice) throw new Failure('not_found', `${repository} has no GGUF file of a language model.`, { code: 'ModelNotFound' });
  const shards = shardsOf(choice.file, files);
  const count = shardNumber(choice.file)?.count ?? 1;
  if (shards.length < count)
    throw new Failure('invalid', `${repository} has only ${shards.length} of the ${count} shards of ${choice.file}.`, {
      code: 'ShardsMissing',
    });
  return { files: shards, beside: [], format: 'gguf', main: choice.file, quantisation: choice.quantisation, note: choice.note };
}

function selectOnnx(files: readonly RemoteFile[], wanted: string | null): Selection {
  const graphs = chooseGraphs(
    files.map(({ path }) => path),
    wanted,
  );
  const own = new Set(graphs.files);
  const weights = new Set(graphs.files.flatMap(weightsBesideGraphs(files)));
  const folders = new Set(graphs.files.map((graph) => posix.dirname(graph)));
  const isPipeline = files.some(({ path }) => path === 'model_index.json');
  const isNear = (folder: string): boolean =>
    folder === '.' || folder === 'onnx' || /^\d+_\w+$/.test(folder) || (isPipeline && !folder.includes('/')) || folders.has(folder);
  const chosen = new Set(
    files.filter((file) => {
      const { path, sizeBytes } = file;
      const isCompanion = COMPANION.test(path) && sizeBytes <= COMPANION_BYTES && isNear(posix.dirname(path));
      return own.has(path) || weights.has(file) || DENSE_LAYER.test(path) || VOICE.test(path) || isCompanion;
    }),
  );
  const note = graphs.without.length > 0 ? `${wanted} is not there for ${graphs.without.join(', ')}; what is there is used.` : null;
  const beginnings = [...folders].map((folder) => posix.join(folder, '/').replace(/^\.\//, ''));
  const beside = files.filter((file) => !chosen.has(file) && beginnings.some((beginning) => file.path.startsWith(beginning)));
  return { files: [...chosen], beside, format: 'onnx', main: graphs.files[0]!, quantisation: wanted, note };
}

/** A model for sherpa-onnx: the graphs that are opened, and all that lies beside them but recordings to try it with. */
function selectSherpa(files: readonly RemoteFile[]): Selection | null {
  const paths = files.map(({ path }) => path);
  if (!looksLikeSherpa(paths)) return null;
  const graphs = sherpaGraphs(paths);
  const isData = (path: string): boolean => /^(?:voices\.bin|[^/]+\.(?:txt|json|fst|far)|(?:espeak-ng-data|dict)\/.+)$/i.test(path);
  const chosen = files.filter(({ path }) => graphs.includes(path) || isData(path));
  return { files: chosen, beside: [], format: 'onnx', main: graphs[0]!, quantisation: null, note: null };
}

/** A Whisper model as faster-whisper fetches it: its weights, its vocabulary and its settings. */
function selectWhisper(files: readonly RemoteFile[]): Selection | null {
  const has = (name: string): boolean => files.some(({ path }) => path === name);
  if (!has('model.bin') || !(has('vocabulary.txt') || has('vocabulary.json'))) return null;
  const chosen = files.filter(
    ({ path, sizeBytes }) => path === 'model.bin' || (!path.includes('/') && COMPANION.test(path) && sizeBytes <= COMPANION_BYTES),
  );
  return { files: chosen, beside: [], format: 'ctranslate2', main: 'model.bin', quantisation: null, note: null };
}

const graphPart = (file: string): string => `${posix.dirname(file)}/${graphName(file)}`;

/** Of a folder's decoder, keeps the graphs and formats that would be opened if all were there, beside the folder's encoder or the one that lies elsewhere. */
function keepOneDecoder(parts: Map<string, readonly string[]>, folder: string, elsewhere: readonly string[], wanted: string | null): void {
  const [encoder = elsewhere, ...decoder] = [ENCODER, MERGED, FIRST, LATER].map((name) => parts.get(`${folder}/${name}`));
  const among = [encoder, ...decoder].flatMap((files) => files ?? []);
  const kept = new Map(decoderFiles(among, wanted).map((files) => [graphPart(files[0]!), files]));
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
function chooseGraphs(files: readonly string[], wanted: string | null): FormatChoice {
  const all = files.filter((file) => /\.onnx$/i.test(file));
  const isPipeline = files.includes('model_index.json');
  const exported = all.filter((file) => file.startsWith('onnx/'));
  const parts = new Map<string, readonly string[]>();
  for (const file of isPipeline || exported.length === 0 ? all : exported)
    parts.set(graphPart(file), [...(parts.get(graphPart(file)) ?? []), file]);
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
function weightsBesideGraphs<T extends { readonly path: string }>(files: readonly T[]): (graph: string) => readonly T[] {
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

/** One form in which a model can be had. */
export interface QuantisationOption {
  /** The file, or the first shard of several. */
  readonly filename: string;
  /** Null where the name tells none. */
  readonly quantization: string | null;
  /** All shards and outside weights together. */
  readonly sizeBytes: number;
}

/** Formats that a repository may have; what else it lists has no name. */
const FORMATS = 64;

/** The forms of a repository's model, by size; projectors and importance matrices are none. */
export function quantisationOptions(files: readonly RemoteFile[]): QuantisationOption[] {
  const gguf = files.filter(({ path }) => /\.gguf$/i.test(path) && holdsModel(path));
  return (gguf.length > 0 ? languageOptions(gguf) : onnxOptions(withoutGenAi(files))).sort((a, b) => a.sizeBytes - b.sizeBytes);
}

function languageOptions(files: readonly RemoteFile[]): QuantisationOption[] {
  const sets = new Map<string, RemoteFile[]>();
  for (const file of files) {
    const set = shardSet(file.path);
    sets.set(set, [...(sets.get(set) ?? []), file]);
  }
  return [...sets.values()].map((shards) => ({
    filename: shards[0]!.path,
    quantization: quantisationOf(shards[0]!.path),
    sizeBytes: shards.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  }));
}

function onnxOptions(files: readonly RemoteFile[]): QuantisationOption[] {
  const paths = files.map(({ path }) => path);
  const folder = paths.some((path) => path.startsWith('onnx/') && path.endsWith('.onnx')) ? 'onnx/' : '';
  const weightsOf = weightsBesideGraphs(files);
  const chosen = new Map<string, ReadonlySet<string>>();
  const isChosen = (name: string, path: string): boolean => {
    if (!chosen.has(name) && chosen.size === FORMATS) return false;
    const graphs = chosen.get(name) ?? new Set(chooseGraphs(paths, name).files);
    chosen.set(name, graphs);
    return graphs.has(path);
  };
  return files
    .filter(({ path }) => path.startsWith(folder) && /\.onnx$/i.test(path))
    .map(({ path, sizeBytes }) => {
      const name = formatName(path);
      return {
        filename: path,
        quantization: name !== null && isChosen(name, path) ? name : null,
        sizeBytes: weightsOf(path).reduce((sum, file) => sum + file.sizeBytes, sizeBytes),
      };
    });
}

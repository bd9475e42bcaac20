import { posix } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { chooseFile, isImportanceMatrix, quantisationOf, shardNumber, shardSet } from '../../formats/gguf-names.js';
import { formatName } from '../../formats/onnx-names.js';
import { looksLikeSherpa, sherpaGraphs } from '../../formats/sherpa-folder.js';
import type { RemoteFile } from '../cache/layout.js';
import { chooseGraphs, externals } from './graphs.js';

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

/** The files without those of folders for ONNX Runtime GenAI, of which none is opened here; what it has at the top or in `onnx/` is. */
export function withoutGenAi(files: readonly RemoteFile[]): RemoteFile[] {
  const folders = new Set(files.flatMap(({ path }) => GEN_AI.exec(path)?.slice(1) ?? []).filter((folder) => folder !== 'onnx'));
  return files.filter(({ path }) => !folders.has(posix.dirname(path)));
}

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

function ggufOf(repository: string, files: readonly RemoteFile[], wanted: string | null): Selection {
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

function onnxOf(files: readonly RemoteFile[], wanted: string | null): Selection {
  const graphs = chooseGraphs(
    files.map(({ path }) => path),
    wanted,
  );
  const own = new Set(graphs.files);
  const weights = new Set(graphs.files.flatMap(externals(files)));
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
function sherpaOf(files: readonly RemoteFile[]): Selection | null {
  const paths = files.map(({ path }) => path);
  if (!looksLikeSherpa(paths)) return null;
  const graphs = sherpaGraphs(paths);
  const isData = (path: string): boolean => /^(?:voices\.bin|[^/]+\.(?:txt|json|fst|far)|(?:espeak-ng-data|dict)\/.+)$/i.test(path);
  const chosen = files.filter(({ path }) => graphs.includes(path) || isData(path));
  return { files: chosen, beside: [], format: 'onnx', main: graphs[0]!, quantisation: null, note: null };
}

/** A Whisper model as faster-whisper fetches it: its weights, its vocabulary and its settings. */
function whisperOf(files: readonly RemoteFile[]): Selection | null {
  const has = (name: string): boolean => files.some(({ path }) => path === name);
  if (!has('model.bin') || !(has('vocabulary.txt') || has('vocabulary.json'))) return null;
  const chosen = files.filter(
    ({ path, sizeBytes }) => path === 'model.bin' || (!path.includes('/') && COMPANION.test(path) && sizeBytes <= COMPANION_BYTES),
  );
  return { files: chosen, beside: [], format: 'ctranslate2', main: 'model.bin', quantisation: null, note: null };
}

/**
 * Chooses what of a repository is fetched: of GGUF files the one quantisation with all its shards, of ONNX exports the graphs of the wanted
 * format with their outside weights, dense layers after pooling and what lies beside them; weights of other frameworks never. Null where nothing runs here.
 */
export function select(repository: string, files: readonly RemoteFile[], wanted: string | null): Selection | null {
  const usable = files.filter(({ sizeBytes }) => sizeBytes > 0);
  const exported = (): Selection | null => {
    // One that was exported for others too, such as with a tokenizer, is fetched for those.
    const sherpa =
      wanted === null && !usable.some(({ path }) => path === 'tokenizer.json' || path.startsWith('onnx/')) ? sherpaOf(usable) : null;
    if (sherpa) return sherpa;
    const graphs = withoutGenAi(usable);
    return graphs.some(({ path }) => /\.onnx$/i.test(path)) ? onnxOf(graphs, wanted) : null;
  };
  if (!usable.some(({ path }) => /\.gguf$/i.test(path) && !isImportanceMatrix(path))) return exported() ?? whisperOf(usable);
  // Where both are there, a format that only the ONNX files have is theirs.
  if (wanted !== null && !PROJECTOR.test(wanted) && (chooseFile(ggufPaths(usable), wanted)?.note ?? null) !== null) {
    const other = exported();
    if (other?.note === null && formatName(other.main) !== null) return other;
  }
  return ggufOf(repository, usable, wanted);
}

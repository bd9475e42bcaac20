import { Failure } from '../../../schemas/errors.js';
import { holdsModel, quantisationOf, shardSet } from '../../formats/gguf-names.js';
import { formatName } from '../../formats/onnx-names.js';
import type { RemoteFile } from '../cache/layout.js';
import { repositoriesOf } from '../find/aliases.js';
import type { HubClient } from './client.js';
import { chooseGraphs, externals } from './graphs.js';
import { listed, repositoryName } from './plan.js';
import { withoutGenAi } from './selection.js';

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

/**
 * What a download of a model could be asked for: the forms of its own repository where that has weights that run here, else of the one that
 * stands in for it. Throws what listing the files throws.
 */
export async function optionsOf(client: HubClient, name: string, signal: AbortSignal): Promise<QuantisationOption[]> {
  const { id } = repositoryName(name);
  let failure: unknown;
  for (const repository of repositoriesOf(id)) {
    try {
      const options = quantisationOptions((await listed(client, repository, signal)).files);
      if (options.length > 0) return options;
    } catch (error) {
      // What holds for the model itself is said, not what is wrong with a stand-in for it.
      if (repository === id) failure = error;
      if (!(error instanceof Failure) || error.kind !== 'not_found') throw failure ?? error;
    }
  }
  if (failure !== undefined) throw failure;
  return [];
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
  const weightsOf = externals(files);
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

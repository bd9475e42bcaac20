import { join } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import type { GgufOptions } from '../engines/contract.js';
import type { GgufClient } from '../engines/gguf/client.js';
import { graphBytes } from '../engines/onnx/graph-bytes.js';
import type { Circuit } from '../hosts/circuit.js';
import { findRepository } from './repositories.js';
import type { FoundRepository } from './repository-contract.js';
import type { ModelPlaces } from './resolve.js';
import type { Room } from './room.js';

/** Graphs for text generation, the better one first; `merged` ones serve with and without keys and values. */
const GRAPHS = ['decoder_model_merged', 'model', 'decoder_with_past_model'] as const;
/** How repositories call the number formats that a quantisation names. */
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  Q4: ['_q4', '_q4f16', '_bnb4'],
  INT4: ['_q4'],
  Q8: ['_quantized', '_int8', '_q8'],
  INT8: ['_int8', '_quantized'],
  FP16: ['_fp16'],
  F16: ['_fp16'],
  FP32: [''],
  F32: [''],
};

/** How an export is run; the `transformers` settings of a project. */
export interface CausalSettings {
  readonly device?: string;
  readonly dtype?: string;
}

/** What settings add to the key of a loaded export: other settings are another copy. */
export function causalKey({ device = 'auto', dtype = 'auto' }: CausalSettings): string {
  return (device === 'auto' ? '' : `:device${device}`) + (dtype === 'auto' ? '' : `:dtype${dtype}`);
}

/** A text-generation export on disk. */
export interface FoundCausal {
  readonly id: string;
  readonly quantisation: string | null;
  readonly folder: string;
  /** Absolute. */
  readonly graph: string;
  readonly sizeBytes: number;
  readonly notes: readonly string[];
}

function graphOf({ files, quantisation: named }: FoundRepository, dtype: string | undefined): string | undefined {
  const quantisation = named ?? (dtype === undefined || dtype === 'auto' ? null : dtype.toUpperCase());
  const suffixes = quantisation === null ? [''] : [...(SUFFIXES[quantisation] ?? [`_${quantisation.toLowerCase()}`]), ''];
  const names = suffixes.flatMap((suffix) => GRAPHS.flatMap((graph) => [`onnx/${graph}${suffix}.onnx`, `${graph}${suffix}.onnx`]));
  return names.find((name) => files.includes(name));
}

/**
 * The text-generation export of a name that is no GGUF model, which `absent` says; throws that where there is none either, and
 * `bad_request` for a repository that holds something else.
 */
export async function findCausal(name: string, { dtype }: CausalSettings, places: ModelPlaces, absent: unknown): Promise<FoundCausal> {
  if (!(absent instanceof Failure) || absent.kind !== 'not_found' || /\.gguf$/i.test(name)) throw absent;
  const found = await findRepository(name, places).catch(() => {
    throw absent;
  });
  const graph = graphOf(found, dtype);
  if (graph === undefined || !found.files.includes('tokenizer.json') || !found.files.includes('config.json')) {
    throw new Failure(
      'bad_request',
      `${name} is no language model: its folder lacks config.json, tokenizer.json or a graph such as onnx/model.onnx.`,
      { code: 'WrongModelType' },
    );
  }
  const { id, quantisation, folder, notes } = found;
  const path = join(folder, graph);
  return { id, quantisation, folder, graph: path, sizeBytes: await graphBytes([path]), notes };
}

/** Makes room and loads a text-generation export into a host of its own. */
export async function loadCausalModel(
  load: { name: string; found: FoundCausal; options: GgufOptions; transformers: CausalSettings; room: Room; circuit: Circuit },
  stop: AbortSignal,
): Promise<GgufClient> {
  const { name, found, options, transformers, room, circuit } = load;
  const { folder, graph, sizeBytes, notes } = found;
  const { loadCausal } = await import('../engines/causal/client.js');
  return room.promise(sizeBytes, () =>
    loadCausal({ name, folder, graph, sizeBytes, options, device: transformers.device ?? 'auto', circuit, notes }, stop),
  );
}

import type { EncoderFiles, EncoderModel, EncoderTask } from '../engines/contracts/encoder.js';
import type { LoadedEngine } from '../engines/contracts/loaded.js';
import type { CircuitBreaker } from '../hosts/circuit-breaker.js';
import { defaultThreads } from '../hosts/memory.js';
import type { FoundModel } from '../models/find/contract.js';
import type { EncoderSettings } from './contract.js';

/** An encoder in a host of its own. */
export type LoadedEncoder = EncoderModel & LoadedEngine;

/** What `QUERN_NATIVE_ENCODERS` makes of the choice of who runs ONNX encoders. */
const ENGINES: Readonly<Record<string, 'native' | 'onnxruntime'>> = { on: 'native', off: 'onnxruntime' };

/** Loads an encoder into a host process with the engine of its format; `name` is what the caller calls it. */
export async function loadEncoder(
  task: EncoderTask,
  name: string,
  { format, weights, folder, facts, notes }: FoundModel,
  settings: EncoderSettings,
  circuit: CircuitBreaker,
  stop: AbortSignal,
): Promise<LoadedEncoder> {
  const device = settings.device === undefined || settings.device === 'auto' ? {} : { device: settings.device };
  const layers = settings.gpuLayers === undefined ? {} : { gpuLayers: settings.gpuLayers };
  const options = { threads: settings.threads ?? defaultThreads(), ...device, ...layers };
  const { pooling, maxLength } = facts;
  const files: EncoderFiles = {
    name,
    format,
    model: weights[0],
    folder,
    notes,
    ...(pooling ? { pooling } : {}),
    ...(maxLength ? { maxLength } : {}),
  };
  if (format === 'gguf') {
    const { GgufEncoder } = await import('../engines/encoders/gguf/client.js');
    return GgufEncoder.load(
      {
        task: task === 'reranking' ? task : 'embedding',
        files,
        options: { ...options, flashAttention: settings.flashAttention ?? true },
        circuit,
      },
      stop,
    );
  }
  const { EncoderClient } = await import('../engines/encoders/onnx/client.js');
  const engine = ENGINES[process.env.QUERN_NATIVE_ENCODERS ?? ''] ?? 'auto';
  return EncoderClient.load({ task, files, options: { ...options, engine }, circuit }, stop);
}

import type { Machine } from './machine.js';

/** A model that is worth naming to someone who names none. */
interface Known {
  readonly task: string;
  /** As `quern pull` takes it. */
  readonly name: string;
  /** Of its files. */
  readonly bytes: number;
  /** What is read from memory for each token, in bytes; all of it unless only some experts of it are asked. */
  readonly readBytes?: number;
  /** Whether it writes text token by token. */
  readonly writes?: boolean;
}

const GIGABYTE = 1e9;
const gb = (value: number): number => value * GIGABYTE;

/** Sizes as the hub gives them, rounded; of each task the larger are better. */
const KNOWN: readonly Known[] = [
  { task: 'chat', name: 'unsloth/Qwen3-0.6B-GGUF:Q4_K_M', bytes: gb(0.4), writes: true },
  { task: 'chat', name: 'unsloth/Qwen3-1.7B-GGUF:Q4_K_M', bytes: gb(1.1), writes: true },
  { task: 'chat', name: 'unsloth/Qwen3-4B-Instruct-2507-GGUF:Q4_K_M', bytes: gb(2.5), writes: true },
  { task: 'chat', name: 'unsloth/Qwen3-8B-GGUF:Q4_K_M', bytes: gb(5), writes: true },
  { task: 'chat', name: 'unsloth/Qwen3-14B-GGUF:Q4_K_M', bytes: gb(9), writes: true },
  { task: 'chat', name: 'unsloth/Qwen3-30B-A3B-Instruct-2507-GGUF:Q4_K_M', bytes: gb(18.6), readBytes: gb(2), writes: true },
  { task: 'embeddings', name: 'Xenova/all-MiniLM-L6-v2', bytes: gb(0.09) },
  { task: 'embeddings', name: 'nomic-ai/nomic-embed-text-v1.5', bytes: gb(0.55) },
  { task: 'reranking', name: 'Xenova/ms-marco-MiniLM-L-6-v2', bytes: gb(0.09) },
  { task: 'speech', name: 'kokoro', bytes: gb(0.107) },
  { task: 'transcription', name: 'whisper-base', bytes: gb(0.082) },
  { task: 'transcription', name: 'whisper-small', bytes: gb(0.264) },
];
/** Beside the weights a model needs room for its context, and the machine for everything else. */
const MEMORY_SHARE = 0.6;
/** Slower chat than this is no joy to read, in tokens per second. */
const PLEASANT = 8;
/** A generated token costs more than the reading of its weights; the share of the bandwidth that is reached in practice. */
const REACHED = 0.6;
const PROBE_BYTES = 64 * 1024 ** 2;
const PROBE_ROUNDS = 4;

/** A model for a machine, with how fast it would write there. */
export interface Recommended extends Omit<Known, 'writes' | 'readBytes'> {
  /** Tokens per second that are expected on the processor; null for what writes none. */
  readonly expected: number | null;
  /** The best of its task that fits and is pleasant to use. */
  readonly isBest: boolean;
}

/** Which known models fit a machine, by task, and which of them is the best. `bandwidth` is that of the memory, in bytes per second. */
export function recommendedFor({ memoryBytes, accelerators }: Machine, bandwidth: number): Recommended[] {
  const own = Math.max(0, ...accelerators.filter(({ isUsable }) => isUsable).map((device) => device.memoryBytes ?? 0));
  const room = Math.max(memoryBytes * MEMORY_SHARE, own * MEMORY_SHARE);
  const fitting = KNOWN.filter(({ bytes }) => bytes <= room);
  const expectedOf = ({ writes, bytes, readBytes = bytes }: Known): number | null =>
    writes === true ? (bandwidth * REACHED) / readBytes : null;
  const isPleasant = (model: Known): boolean => (expectedOf(model) ?? PLEASANT) >= PLEASANT || model.bytes <= own * MEMORY_SHARE;
  return fitting.map((model) => {
    const ofTask = fitting.filter(({ task }) => task === model.task);
    const best = ofTask.findLast(isPleasant) ?? ofTask[0];
    return { task: model.task, name: model.name, bytes: model.bytes, expected: expectedOf(model), isBest: model === best };
  });
}

/** How many bytes per second this machine copies, as the best of some rounds; reads of weights reach about twice that. It holds the thread for about 0.2 s. */
export function measuredBandwidth(): number {
  const [from, to] = [new Float64Array(PROBE_BYTES / 8).fill(1), new Float64Array(PROBE_BYTES / 8)];
  let best = 0;
  for (let round = 0; round < PROBE_ROUNDS; round += 1) {
    const start = performance.now();
    to.set(from);
    best = Math.max(best, (2 * PROBE_BYTES * 1000) / (performance.now() - start));
  }
  return best;
}

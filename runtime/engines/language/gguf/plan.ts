import { Failure } from '../../../../schemas/errors.js';
import type { ModelShape } from '../../../formats/gguf/shape.js';
import type { LanguageOptions } from '../../contracts/language.js';

/** What is loaded where the caller says nothing. */
const DEFAULT_BATCH = 2048;
const DEFAULT_UBATCH = 512;
const DEFAULT_SLOTS = 32;
const SLOT_LIMIT = 64;
/** Share of the sequences for whose sake a buffer each is kept. */
const FEWER_APART = 0.5;
/** Below this much memory the batch shrinks. */
const LOW_MEMORY_BYTES = 3000 * 1024 * 1024;
const LOW_MEMORY_BATCH = 512;
/** The least that the engine takes. */
const LEAST_CONTEXT = 8;
/** What is used at least where memory decides. */
const CONTEXT_FLOOR = 512;
const CONTEXT_FALLBACK = 2048;
const CONTEXT_CEILING = 131_072;
const MEMORY_SHARE = 0.8;
/** What a token takes beside its keys and values, such as compute buffers. */
const KV_OVERHEAD = 1.3;
const BYTES_PER_TOKEN_FALLBACK = 256;
/** KV memory for more than one sequence where the caller names no number of slots. */
const SHARED_KV_BYTES = 256 * 1024 * 1024;
/** Contexts of models whose file names none, by pattern of the id. */
const KNOWN_CONTEXTS: readonly (readonly [RegExp, number])[] = [[/qwen2\.5-coder-1\.5b/i, 32_768]];
/** KV types that the engine takes: bytes per value, and whether values come in blocks of 32. */
const CACHE_TYPES: Readonly<Record<string, { bytes: number; blocks: boolean }>> = {
  f32: { bytes: 4, blocks: false },
  f16: { bytes: 2, blocks: false },
  bf16: { bytes: 2, blocks: false },
  q8_0: { bytes: 34 / 32, blocks: true },
  q5_1: { bytes: 24 / 32, blocks: true },
  q5_0: { bytes: 22 / 32, blocks: true },
  q4_1: { bytes: 20 / 32, blocks: true },
  q4_0: { bytes: 18 / 32, blocks: true },
};
const DEFAULT_CACHE_TYPE = 'f16';
const BLOCK = 32;

/** How a model will be loaded. */
export interface LoadPlan {
  readonly contextSize: number;
  readonly slots: number;
  readonly batch: number;
  readonly ubatch: number;
  readonly threads: number;
  readonly gpuLayers: number;
  readonly flashAttention: boolean;
  readonly mmap: boolean;
  readonly mlock: boolean;
  readonly cacheTypeK: string;
  readonly cacheTypeV: string;
  readonly unifiedKv: boolean;
  /** Cells of a unified buffer. */
  readonly kvCells: number;
  readonly warmUp: boolean;
  /** Memory that the weights and the KV buffer will take, in bytes. */
  readonly memoryBytes: number;
  readonly notes: readonly string[];
}

/** The part of a header that a plan depends on. */
export type PlannedModel = Pick<ModelShape, 'contextLength' | 'headsKvTotal' | 'keyLength' | 'valueLength'> & {
  sizeBytes: number;
  path: string;
};

/** A plan in the words of the options that it was made from. */
export function optionsOf(plan: LoadPlan): Required<LanguageOptions> {
  return {
    n_ctx: plan.contextSize,
    n_slots: plan.slots,
    n_batch: plan.batch,
    n_ubatch: plan.ubatch,
    n_gpu_layers: plan.gpuLayers,
    n_threads: plan.threads,
    flash_attn: plan.flashAttention,
    use_mmap: plan.mmap,
    use_mlock: plan.mlock,
    cache_type_k: plan.cacheTypeK,
    cache_type_v: plan.cacheTypeV,
    kv_unified: plan.unifiedKv,
    warm_up: plan.warmUp,
  };
}

const powerOfTwoBelow = (value: number): number => 2 ** Math.floor(Math.log2(value));

function cacheType(option: string, given: string | undefined, notes: string[]): string {
  if (given === undefined) return DEFAULT_CACHE_TYPE;
  const name = given.toLowerCase();
  if (Object.hasOwn(CACHE_TYPES, name)) return name;
  notes.push(`${option} "${given}" is not known; ${DEFAULT_CACHE_TYPE} is used. Allowed are ${Object.keys(CACHE_TYPES).join(', ')}.`);
  return DEFAULT_CACHE_TYPE;
}

function refuse(option: string, value: string, rule: string): Failure {
  const msg = `${option} is ${value}; ${rule}`;
  return new Failure('invalid', `${msg}.`, {
    code: 'InvalidModelOptions',
    errors: [{ type: 'value_error', loc: ['body', option], msg, input: value }],
  });
}

/** Quantised keys and values come in blocks, and only flash attention reads quantised values. */
function checkCacheTypes(model: PlannedModel, k: string, v: string, flash: boolean): void {
  if (CACHE_TYPES[k]!.blocks && model.keyLength % BLOCK !== 0) {
    throw refuse(
      'cache_type_k',
      k,
      `it needs a head size that is a multiple of ${BLOCK}, and this model's keys have ${model.keyLength}; use f16`,
    );
  }
  if (CACHE_TYPES[v]!.blocks && !flash) throw refuse('cache_type_v', v, 'it needs flash attention; set flash_attn true or use f16');
  if (CACHE_TYPES[v]!.blocks && model.valueLength % BLOCK !== 0) {
    throw refuse(
      'cache_type_v',
      v,
      `it needs a head size that is a multiple of ${BLOCK}, and this model's values have ${model.valueLength}; use f16`,
    );
  }
}

/** Most tokens of context that memory holds: a power of two from 512 to 131072. */
export function computedMaximum(availableBytes: number, sizeBytes: number, bytesPerToken: number): number {
  const tokens = (availableBytes * MEMORY_SHARE - sizeBytes) / bytesPerToken;
  return tokens < CONTEXT_FLOOR ? CONTEXT_FLOOR : Math.min(CONTEXT_CEILING, powerOfTwoBelow(tokens));
}

function contextSize(model: PlannedModel, requested: number | undefined, most: number, notes: string[]): number {
  const known = KNOWN_CONTEXTS.find(([pattern]) => pattern.test(model.path))?.[1];
  const wanted = requested ?? (model.contextLength || known || (most >= CONTEXT_FALLBACK ? most : CONTEXT_FALLBACK));
  const source = requested === undefined ? 'The context of the model' : 'The requested context';
  if (wanted > most) {
    notes.push(`${source}, ${wanted} tokens, exceeds computed maximum ${most} for the free memory; ${most} is used.`);
    return most;
  }
  if (wanted < LEAST_CONTEXT) notes.push(`${source}, ${wanted} tokens, is below the smallest, ${LEAST_CONTEXT}; ${LEAST_CONTEXT} is used.`);
  if (requested !== undefined && model.contextLength > 0 && requested > model.contextLength) {
    notes.push(
      `The requested context, ${requested} tokens, is more than the ${model.contextLength} that the model was trained on; answers may degrade.`,
    );
  }
  return Math.max(LEAST_CONTEXT, wanted);
}

/**
 * Sequences and the shape of the KV buffer: one buffer each where that fits, one for all otherwise, so that a model with a
 * long context still serves many. In one for all each token looks past what all the others hold, so somewhat fewer with one
 * each are better.
 */
function sequences(
  options: LanguageOptions,
  context: number,
  fitting: number,
  shared: number,
): { slots: number; unifiedKv: boolean; kvCells: number } {
  const wanted = Math.min(SLOT_LIMIT, options.n_slots ?? DEFAULT_SLOTS);
  const cells = Math.max(context, Math.min(context * wanted, Math.floor(options.n_slots === undefined ? shared : fitting)));
  if (options.kv_unified === true) return { slots: wanted, unifiedKv: true, kvCells: cells };
  const apart = Math.max(1, Math.min(wanted, Math.floor(cells / context)));
  if (options.kv_unified === false || apart === wanted || (options.n_slots === undefined && apart >= wanted * FEWER_APART))
    return { slots: apart, unifiedKv: false, kvCells: apart * context };
  return { slots: wanted, unifiedKv: true, kvCells: cells };
}

/**
 * Chooses context, slots, batch and KV types for a model by what was asked and the free memory; each departure is noted.
 * Throws `Failure('invalid')` naming the rule for options that cannot go together.
 */
export function planLoad(
  model: PlannedModel,
  options: LanguageOptions,
  machine: { availableBytes: number; threads: number; forceCpu?: boolean; warmUp?: boolean },
): LoadPlan {
  const notes: string[] = [];
  const { availableBytes } = machine;
  const flashAttention = options.flash_attn ?? true;
  const cacheTypeK = cacheType('cache_type_k', options.cache_type_k, notes);
  const cacheTypeV = cacheType('cache_type_v', options.cache_type_v, notes);
  checkCacheTypes(model, cacheTypeK, cacheTypeV, flashAttention);
  const kvBytes =
    model.headsKvTotal * (model.keyLength * CACHE_TYPES[cacheTypeK]!.bytes + model.valueLength * CACHE_TYPES[cacheTypeV]!.bytes);
  const bytesPerToken = kvBytes * KV_OVERHEAD || BYTES_PER_TOKEN_FALLBACK;
  const context = contextSize(model, options.n_ctx, computedMaximum(availableBytes, model.sizeBytes, bytesPerToken), notes);
  const fitting = (availableBytes * MEMORY_SHARE - model.sizeBytes) / bytesPerToken;
  const { slots, unifiedKv, kvCells } = sequences(options, context, fitting, Math.min(fitting, SHARED_KV_BYTES / bytesPerToken));
  let batch = options.n_batch ?? DEFAULT_BATCH;
  if (availableBytes < LOW_MEMORY_BYTES && batch > LOW_MEMORY_BATCH) {
    notes.push(`n_batch is ${LOW_MEMORY_BATCH} instead of ${batch}: less than 3000 MB of memory is free.`);
    batch = LOW_MEMORY_BATCH;
  }
  // A step decodes one token of each sequence, and no more fits the context.
  batch = Math.max(slots, Math.min(batch, context));
  return {
    contextSize: context,
    slots,
    batch,
    ubatch: Math.max(1, Math.min(options.n_ubatch ?? DEFAULT_UBATCH, batch)),
    threads: options.n_threads ?? machine.threads,
    gpuLayers: machine.forceCpu ? 0 : (options.n_gpu_layers ?? -1),
    flashAttention,
    mmap: options.use_mmap ?? true,
    mlock: options.use_mlock ?? false,
    cacheTypeK,
    cacheTypeV,
    unifiedKv,
    kvCells,
    warmUp: options.warm_up ?? machine.warmUp ?? true,
    memoryBytes: model.sizeBytes + kvCells * bytesPerToken,
    notes,
  };
}

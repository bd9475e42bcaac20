import type { Failure } from '../../../schemas/errors.js';
import { fileFault } from './cursor.js';
import type { Metadata } from './metadata.js';

/** Bounds of the pinned llama.cpp (llama-hparams.h); beyond them it ends the process. */
const LAYER_LIMIT = 512;
const EXPERT_LIMIT = 1024;
const WIDTH_LIMIT = 1 << 20;
const CONTEXT_LIMIT = 1 << 30;
/** Families without attention, whose files have no or zero heads. */
const RECURRENT = /^(mamba|rwkv|arwkv)/;

/** The sizes of a model that memory depends on. */
export interface ModelShape {
  readonly architecture: string;
  /** True for families that read texts and complete none. */
  readonly onlyEmbeds: boolean;
  readonly layers: number;
  readonly width: number;
  /** Trained context in tokens; 0 where the file does not say. */
  readonly contextLength: number;
  /** Query heads of the first layer. */
  readonly heads: number;
  /** Key-value heads of all layers together. */
  readonly headsKvTotal: number;
  /** Values per head of keys and of values. */
  readonly keyLength: number;
  readonly valueLength: number;
}

/** Reads numbers of one file and tells what is wrong with them. */
class Fields {
  readonly #file: string;
  readonly #metadata: Metadata;

  constructor(file: string, metadata: Metadata) {
    this.#file = file;
    this.#metadata = metadata;
  }

  optional(key: string, least: number, most: number): number | undefined {
    const value = this.#metadata.get(key);
    if (value === undefined) return undefined;
    return this.#whole(key, value, least, most);
  }

  required(key: string, least: number, most: number): number {
    const value = this.#metadata.get(key);
    if (value === undefined) throw fileFault(this.#file, key, 'missing', `a whole number from ${least} to ${most} is needed`);
    return this.#whole(key, value, least, most);
  }

  /** A number for all layers, or an array with one per layer; given as one number per layer. */
  perLayer(key: string, layers: number, least: number): number[] | undefined {
    const value = this.#metadata.get(key);
    if (value === undefined) return undefined;
    if (typeof value !== 'object') return new Array<number>(layers).fill(this.#whole(key, value, least, WIDTH_LIMIT));
    if (value.length !== layers) throw fileFault(this.#file, `length of ${key}`, value.length, `the model has ${layers} layers`);
    // Single layers may have none; not all of them.
    const counts = (value.values ?? []).map((count) => this.#whole(key, count, 0, WIDTH_LIMIT));
    if (least > 0 && !counts.some((count) => count > 0))
      throw fileFault(this.#file, key, 'all 0', 'at least one layer needs a number above 0');
    return counts;
  }

  #whole(key: string, value: unknown, least: number, most: number): number {
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
    throw fileFault(this.#file, key, typeof value === 'object' ? 'an array' : value, `a whole number from ${least} to ${most} is needed`);
  }
}

/** The 422 of a file that holds another kind of model than a language model. */
export function otherKind(file: string, architecture: string, kind: string): Failure {
  return fileFault(file, 'general.architecture', architecture, `that is ${kind}`, 'Name a language model.');
}

/** Checks the fields that llama.cpp divides by and allocates from, and gives them. */
export function readShape(file: string, metadata: Metadata): ModelShape {
  const architecture = metadata.get('general.architecture');
  if (typeof architecture !== 'string' || !/^[a-z0-9][a-z0-9._-]{0,63}$/i.test(architecture)) {
    throw fileFault(file, 'general.architecture', architecture ?? 'missing', 'the name of a model family is needed');
  }
  const other = Object.hasOwn(OTHER_ARCHITECTURES, architecture) ? OTHER_ARCHITECTURES[architecture] : undefined;
  const onlyEmbeds = other === EMBEDDING_MODEL;
  if (other && !onlyEmbeds) throw otherKind(file, architecture, other);
  if (!onlyEmbeds && !ARCHITECTURES.has(architecture)) {
    const remedy = 'A newer version may; until then, name a model of another family.';
    throw fileFault(file, 'general.architecture', architecture, 'the engine does not know this family', remedy);
  }
  const fields = new Fields(file, metadata);
  const key = (name: string): string => `${architecture}.${name}`;
  const layers = fields.required(key('block_count'), 1, LAYER_LIMIT);
  const width = fields.required(key('embedding_length'), 1, WIDTH_LIMIT);
  const contextLength = fields.optional(key('context_length'), 1, CONTEXT_LIMIT) ?? 0;
  const least = RECURRENT.test(architecture) ? 0 : 1;
  const heads = fields.perLayer(key('attention.head_count'), layers, least);
  if (!heads && least > 0) throw fileFault(file, key('attention.head_count'), 'missing', 'a number of heads is needed');
  const headsKv = fields.perLayer(key('attention.head_count_kv'), layers, least) ?? heads ?? [];
  for (const [layer, count] of headsKv.entries()) {
    const own = heads?.[layer] ?? 0;
    if (count > 0 && own % count !== 0) throw fileFault(file, key('attention.head_count_kv'), count, `it must divide the ${own} heads`);
  }
  const most = Math.max(0, ...(heads ?? []));
  const given = fields.optional(key('attention.key_length'), 1, WIDTH_LIMIT);
  if (given === undefined && most > 0 && width % most !== 0) {
    throw fileFault(file, key('embedding_length'), width, `it must be a multiple of the ${most} heads`);
  }
  const keyLength = given ?? (most > 0 ? width / most : 0);
  const valueLength = fields.optional(key('attention.value_length'), 1, WIDTH_LIMIT) ?? keyLength;
  fields.perLayer(key('feed_forward_length'), layers, least);
  checkExperts(file, fields, key);
  return {
    architecture,
    onlyEmbeds,
    layers,
    width,
    contextLength,
    heads: heads?.[0] ?? 0,
    headsKvTotal: headsKv.reduce((sum, count) => sum + count, 0),
    keyLength,
    valueLength,
  };
}

function checkExperts(file: string, fields: Fields, key: (name: string) => string): void {
  const experts = fields.optional(key('expert_count'), 0, EXPERT_LIMIT);
  const used = fields.optional(key('expert_used_count'), 0, EXPERT_LIMIT);
  if ((used ?? 0) > (experts ?? 0)) throw fileFault(file, key('expert_used_count'), used, `the model has ${experts ?? 0} experts`);
}

/** The model families that the pinned llama.cpp knows (llama-arch.cpp), those left out that hold no language model. */
const ARCHITECTURES: ReadonlySet<string> = new Set(
  `afmoe apertus arcee arctic arwkv7 baichuan bailingmoe bailingmoe2 bailingmoe3 bitnet bloom chameleon chatglm codeshell cogvlm cohere2
  cohere2moe command-r dbrx deci deepseek deepseek2 deepseek2-ocr deepseek32 deepseek4 dflash dots1 dots3note dream eagle3 ernie4_5
  ernie4_5-moe exaone exaone-moe exaone4 falcon falcon-h1 gemma gemma2 gemma3 gemma3n gemma4 gemma4-assistant glm-dsa glm4 glm4moe gpt-oss
  gpt2 gptj gptneox granite granite_swa granitehybrid granitemoe graniteswitch grok grovemoe hunyuan-dense hunyuan-moe hunyuan_vl hy_v3
  internlm2 jais jais2 jamba kimi-k3 kimi-linear laguna lfm2 lfm2moe llada llada-moe llama llama4 maincoder mamba mamba2 mellum mimo2
  minicpm minicpm3 minimax-01 minimax-m2 minimax-m3 mistral3 mistral4 mpt muse-glimmer nanbeige nemotron nemotron_h nemotron_h_moe olmo
  olmo2 olmoe openelm orion paddleocr pangu-embedded phi2 phi3 phimoe plamo plamo2 plamo3 plm qwen qwen2 qwen2moe qwen2vl qwen3 qwen35
  qwen35moe qwen3moe qwen3next qwen3vl qwen3vlmoe qwen4exp refact rnd1 rwkv6 rwkv6qwen2 rwkv7 seed_oss smallthinker smollm3 stablelm
  starcoder starcoder2 step35 t5 talkie xverse`.split(/\s+/),
);

/** What the families hold that make embeddings and nothing else. */
export const EMBEDDING_MODEL = 'an embedding model';

/** Files that hold something else than a language model, and what they hold. */
const OTHER_ARCHITECTURES: Readonly<Record<string, string>> = {
  clip: 'a projector for images or sound',
  bert: EMBEDDING_MODEL,
  eurobert: EMBEDDING_MODEL,
  'gemma-embedding': EMBEDDING_MODEL,
  'jina-bert-v2': EMBEDDING_MODEL,
  'jina-bert-v3': EMBEDDING_MODEL,
  'llama-embed': EMBEDDING_MODEL,
  'modern-bert': EMBEDDING_MODEL,
  'neo-bert': EMBEDDING_MODEL,
  'nomic-bert': EMBEDDING_MODEL,
  'nomic-bert-moe': EMBEDDING_MODEL,
  pockettts: 'a speech model',
  qwen3tts: 'a speech model',
  t5encoder: 'an encoder',
  'wavtokenizer-dec': 'a sound decoder',
};

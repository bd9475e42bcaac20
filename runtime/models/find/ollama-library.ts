/** A model of Ollama's library: repositories of the hub with the same weights, by the tag that tells the size, as Ollama writes it; the first is what the bare name means. */
type Family = readonly [name: string, ...sizes: (readonly [tag: string, repository: string])[]];

/** Sizes whose repositories differ in nothing but the size, which stands in the place of the `*`. */
const sized = (pattern: string, ...sizes: string[]): (readonly [string, string])[] =>
  sizes.map((size) => [size.toLowerCase(), pattern.replace('*', size)] as const);

const FAMILIES: readonly Family[] = [
  ['llama3.3', ...sized('bartowski/Llama-3.3-*-Instruct-GGUF', '70B')],
  ['llama3.2', ...sized('bartowski/Llama-3.2-*-Instruct-GGUF', '3B', '1B')],
  ['llama3.1', ...sized('bartowski/Meta-Llama-3.1-*-Instruct-GGUF', '8B', '70B')],
  ['llama3', ...sized('bartowski/Meta-Llama-3-*-Instruct-GGUF', '8B', '70B')],
  [
    'qwen3',
    ...sized('unsloth/Qwen3-*-GGUF', '8B', '0.6B', '1.7B', '4B', '14B', '32B'),
    ['30b', 'unsloth/Qwen3-30B-A3B-GGUF'],
    ['30b-a3b', 'unsloth/Qwen3-30B-A3B-GGUF'],
  ],
  ['qwen2.5', ...sized('bartowski/Qwen2.5-*-Instruct-GGUF', '7B', '0.5B', '1.5B', '3B', '14B', '32B', '72B')],
  ['qwen2.5-coder', ...sized('bartowski/Qwen2.5-Coder-*-Instruct-GGUF', '7B', '0.5B', '1.5B', '3B', '14B', '32B')],
  ['gemma3', ...sized('ggml-org/gemma-3-*-it-GGUF', '4b', '270m', '1b', '12b', '27b')],
  ['gemma2', ...sized('bartowski/gemma-2-*-it-GGUF', '9b', '2b', '27b')],
  ['mistral', ['7b', 'bartowski/Mistral-7B-Instruct-v0.3-GGUF']],
  ['mistral-nemo', ['12b', 'bartowski/Mistral-Nemo-Instruct-2407-GGUF']],
  ['phi3.5', ['3.8b', 'bartowski/Phi-3.5-mini-instruct-GGUF']],
  ['phi4', ['14b', 'bartowski/phi-4-GGUF']],
  ['smollm2', ...sized('bartowski/SmolLM2-*-Instruct-GGUF', '1.7B', '360M', '135M')],
  ['tinyllama', ['1.1b', 'TheBloke/TinyLlama-1.1B-Chat-v1.0-GGUF']],
  [
    'deepseek-r1',
    ['8b', 'unsloth/DeepSeek-R1-0528-Qwen3-8B-GGUF'],
    ...sized('bartowski/DeepSeek-R1-Distill-Qwen-*-GGUF', '1.5B', '7B', '14B', '32B'),
    ['70b', 'bartowski/DeepSeek-R1-Distill-Llama-70B-GGUF'],
  ],
  ['gpt-oss', ...sized('ggml-org/gpt-oss-*-GGUF', '20b', '120b')],
  ['nomic-embed-text', ['v1.5', 'nomic-ai/nomic-embed-text-v1.5-GGUF']],
  ['all-minilm', ['22m', 'sentence-transformers/all-MiniLM-L6-v2']],
  ['mxbai-embed-large', ['335m', 'mixedbread-ai/mxbai-embed-large-v1']],
  ['qwen3-embedding', ...sized('Qwen/Qwen3-Embedding-*-GGUF', '8B', '0.6B', '4B')],
];

const BY_NAME = new Map(FAMILIES.map(([name, ...sizes]) => [name, new Map(sizes)] as const));
/** How Ollama calls a model of its library in full. */
const IN_LIBRARY = /^(?:registry\.ollama\.ai\/|(?:https?:\/\/)?(?:www\.)?ollama\.com\/)?library\//i;
/** Behind the size: what the weights were tuned for, where that is what the repositories have, and the quantisation. */
const VARIANT = /^(?:-(?:instruct|it|chat))?(?:-(i?q\d\w*|fp?16|bf16|fp?32))?$/i;
const QUANTISATION = /^(?:i?q\d\w*|fp?16|bf16|fp?32|latest)?$/i;

/** What a name of Ollama's library means on the hub. */
export interface LibraryModel {
  readonly repository: string;
  /** Upper case, as names of files have it; null where the tag has none. */
  readonly quantisation: string | null;
}

/** Without what Ollama writes before the models of its own library. */
export const withoutLibrary = (name: string): string => name.replace(IN_LIBRARY, '');

/** The repositories that bare names of the library mean, by name. */
export const LIBRARY_DEFAULTS: readonly (readonly [name: string, repository: string])[] = FAMILIES.map(
  ([name, ...sizes]) => [name, sizes[0]![1]] as const,
);

/** A name of the library, cut at its tag, which is empty where it has none. */
function taggedName(name: string): { family: string; sizes: ReadonlyMap<string, string>; tag: string } | undefined {
  const [family = '', tag = ''] = name.toLowerCase().split(':', 2);
  const sizes = BY_NAME.get(family);
  return sizes && { family, sizes, tag };
}

/** What a name with the tag of a size means, such as `qwen2.5:0.5b` or `llama3.2:1b-instruct-q8_0`; undefined for all others. */
export function libraryModel(name: string): LibraryModel | undefined {
  const { sizes = [], tag = '' } = taggedName(name) ?? {};
  for (const [size, repository] of sizes) {
    const variant = tag.startsWith(size) ? VARIANT.exec(tag.slice(size.length)) : null;
    if (variant) return { repository, quantisation: variant[1]?.toUpperCase().replace(/^FP/, 'F') ?? null };
  }
  return undefined;
}

/** The names that are known here of a model whose tag is none of them and no quantisation; undefined where nothing is wrong with a name. */
export function namesInstead(name: string): string[] | undefined {
  const named = taggedName(name);
  if (!named || QUANTISATION.test(named.tag) || libraryModel(name)) return undefined;
  return [...named.sizes.keys()].map((size) => `${named.family}:${size}`);
}

/** How Ollama calls a repository's model; undefined where its library has none with these weights. */
export function libraryName(repository: string): string | undefined {
  for (const [name, ...sizes] of FAMILIES) {
    const at = sizes.findIndex(([, one]) => one.toLowerCase() === repository.toLowerCase());
    if (at >= 0) return at === 0 ? name : `${name}:${sizes[at]![0]}`;
  }
  return undefined;
}

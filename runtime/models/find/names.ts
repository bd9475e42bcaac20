import { Failure } from '../../../schemas/errors.js';
import { modelMissing } from '../../formats/model-files.js';
import type { AliasFacts } from './contract.js';
import { LIBRARY_DEFAULTS, libraryModel, namesInstead, withoutLibrary } from './ollama-library.js';

const ID = /^[A-Za-z0-9_.-]{1,96}(?:\/[A-Za-z0-9_.-]{1,96})?$/;
/** Forbidden by the hub too: cache folders have `--` for the slash, and a path goes past `.`, so that two names would stand for one folder. */
const AMBIGUOUS = /--|(?:^|\/)-|-(?:\/|$)|(?:^|\/)\.(?:\/|$)/;
const NAME_LIMIT = 1024;
/** What other programs put in the place of a quantisation where any will do. */
const NO_WISH: ReadonlySet<string> = new Set(['', 'LATEST']);
/** How other programs write that a repository is one of the hub's. */
const ON_HUB = /^(?:hf:\/\/(?:models\/)?|(?:https?:\/\/)?(?:www\.)?(?:hf|huggingface)\.co\/)(?=[^/]+\/[^/]+$)/i;

/** A model as a caller names it. */
interface ModelName {
  /** `org/repo`, a bare name, or a path; without the quantisation. */
  readonly id: string;
  /** Upper case, such as `Q4_K_M`; null where none was given. */
  readonly quantisation: string | null;
  readonly isPath: boolean;
}

const badName = (name: string, rule: string): Failure =>
  new Failure(
    'bad_request',
    `"${name.slice(0, 200)}" is not a model name: ${rule}. Give org/repo, org/repo:QUANT, a built-in name or a path that ends in .gguf.`,
    {
      code: 'InvalidModelName',
    },
  );

/** Whether a caller can name this repository or folder. */
export const isNameable = (id: string): boolean => !/\.gguf$/i.test(id) && !id.includes('..') && ID.test(id) && !AMBIGUOUS.test(id);

/**
 * Splits a model name at its last colon; names that end in `.gguf` are paths and have no quantisation. What others put before a repository of
 * the hub, such as `hf.co/`, is left out, and a size of a model of Ollama's library is the repository that has it.
 */
export function splitName(given: string): ModelName {
  if (/\.gguf$/i.test(given)) return { id: given, quantisation: null, isPath: true };
  const name = withoutLibrary(given.replace(ON_HUB, ''));
  const library = libraryModel(name);
  if (library) return { id: library.repository, quantisation: library.quantisation, isPath: false };
  const colon = name.lastIndexOf(':');
  if (colon < 0) return { id: name, quantisation: null, isPath: false };
  const suffix = name
    .slice(colon + 1)
    .trim()
    .toUpperCase();
  return { id: name.slice(0, colon), quantisation: NO_WISH.has(suffix) ? null : suffix, isPath: false };
}

/** Checks a model name and splits it. Throws `Failure('bad_request')` for what cannot name a model, traversals among them (threats T1, T2), `not_found` for weights of Ollama's library that no known repository has. */
export function parseName(name: string): ModelName {
  if (name === '' || name.length > NAME_LIMIT) throw badName(name, `it must have 1 to ${NAME_LIMIT} characters`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u001f]/.test(name)) throw badName(name, 'it holds a control character');
  const parsed = splitName(name);
  if (parsed.isPath) return parsed;
  const instead = namesInstead(withoutLibrary(name));
  if (instead) {
    const why = `its tag stands for weights that no known repository has; of Ollama's library ${instead.join(', ')} are known here`;
    throw modelMissing(name, { why, remedies: ['name one of them', 'another export on the hub as org/repo:QUANT'] });
  }
  if (parsed.id.includes('..') || !ID.test(parsed.id)) throw badName(name, 'letters, digits, "_", ".", "-" and one slash are allowed');
  if (AMBIGUOUS.test(parsed.id)) throw badName(name, '"--", a part "." and a "-" at the beginning or end of a part are not allowed');
  if (parsed.quantisation !== null && !/^[A-Z0-9_.-]{1,32}$/.test(parsed.quantisation))
    throw badName(name, `"${parsed.quantisation}" is no quantisation`);
  return parsed;
}

/** Where the weights of a model that people name by its training repository lie in a form that runs here. */
interface Alias {
  /** Repositories with the same weights, the one to download first; empty where the repository itself has them. */
  readonly repositories: readonly string[];
  readonly facts: AliasFacts;
}

const embedding = (pooling: 'mean' | 'cls', maxLength: number, ...repositories: string[]): Alias => ({
  repositories,
  facts: { pooling, maxLength, head: 'embedding' },
});

const headed = (head: 'reranking' | 'classification' | 'ner', maxLength: number, ...repositories: string[]): Alias => ({
  repositories,
  facts: { head, maxLength },
});

const exported = (...repositories: string[]): Alias => ({ repositories, facts: {} });

/**
 * Only exports of the very same weights stand here; a model that merely does the same work is never put in another's place. Pooling and
 * lengths are those of the model cards, and hold only where the repository's own files do not say.
 */
const ALIASES: ReadonlyMap<string, Alias> = new Map([
  ['sentence-transformers/all-minilm-l6-v2', embedding('mean', 256, 'Xenova/all-MiniLM-L6-v2', 'onnx-community/all-MiniLM-L6-v2-ONNX')],
  ['sentence-transformers/all-mpnet-base-v2', embedding('mean', 384, 'Xenova/all-mpnet-base-v2')],
  ['baai/bge-small-en-v1.5', embedding('cls', 512, 'Xenova/bge-small-en-v1.5')],
  ['baai/bge-base-en-v1.5', embedding('cls', 512, 'Xenova/bge-base-en-v1.5')],
  ['nomic-ai/nomic-embed-text-v1.5', embedding('mean', 8192, 'nomic-ai/nomic-embed-text-v1.5-GGUF')],
  ['jinaai/jina-embeddings-v2-small-en', embedding('mean', 8192)],
  ['jinaai/jina-embeddings-v2-base-en', embedding('mean', 8192)],
  ['answerdotai/modernbert-base', { repositories: [], facts: { maxLength: 8192 } }],
  ['answerdotai/modernbert-large', { repositories: [], facts: { maxLength: 8192 } }],
  ['cross-encoder/ms-marco-minilm-l-6-v2', headed('reranking', 512, 'Xenova/ms-marco-MiniLM-L-6-v2')],
  ['cross-encoder/ms-marco-minilm-l-12-v2', headed('reranking', 512, 'Xenova/ms-marco-MiniLM-L-12-v2')],
  ['baai/bge-reranker-base', headed('reranking', 512, 'Xenova/bge-reranker-base')],
  ['baai/bge-reranker-v2-m3', headed('reranking', 8192, 'onnx-community/bge-reranker-v2-m3-ONNX')],
  ['dslim/bert-base-ner', headed('ner', 512, 'Xenova/bert-base-NER')],
  [
    'distilbert/distilbert-base-uncased-finetuned-sst-2-english',
    headed('classification', 512, 'Xenova/distilbert-base-uncased-finetuned-sst-2-english'),
  ],
  ['facebook/bart-large-mnli', headed('classification', 1024, 'Xenova/bart-large-mnli')],
  ['cardiffnlp/twitter-roberta-base-sentiment-latest', headed('classification', 512, 'Xenova/twitter-roberta-base-sentiment-latest')],
  ['naver-clova-ix/donut-base-finetuned-docvqa', exported('Xenova/donut-base-finetuned-docvqa')],
  ['naver-clova-ix/donut-base-finetuned-cord-v2', exported('Xenova/donut-base-finetuned-cord-v2')],
  ['openai/clip-vit-base-patch16', exported('Xenova/clip-vit-base-patch16')],
  ['openai/clip-vit-base-patch32', exported('Xenova/clip-vit-base-patch32')],
  ['facebookai/xlm-roberta-large-finetuned-conll03-english', headed('ner', 512)],
  ['qwen/qwen2.5-0.5b-instruct', exported('onnx-community/Qwen2.5-0.5B-Instruct')],
  ['google/gemma-3-1b-it', exported('onnx-community/gemma-3-1b-it-ONNX')],
  ['openai-community/gpt2', exported('Xenova/gpt2')],
  // A quarter of the size, and as quick as the others are on a processor.
  ['hexgrad/kokoro-82m', { repositories: ['onnx-community/Kokoro-82M-v1.0-ONNX'], facts: { format: 'INT8', licence: 'Apache-2.0' } }],
  ['qwen/qwen3-0.6b', exported('onnx-community/Qwen3-0.6B-ONNX')],
]);

/** Names that are used without their organisation. */
const SHORT: ReadonlyMap<string, string> = new Map([
  ['kokoro', 'hexgrad/Kokoro-82M'] as const,
  ['piper', 'rhasspy/piper-voices'] as const,
  ...LIBRARY_DEFAULTS,
  ...[
    'sentence-transformers/all-MiniLM-L6-v2',
    'sentence-transformers/all-mpnet-base-v2',
    'distilbert/distilbert-base-uncased-finetuned-sst-2-english',
    'FacebookAI/xlm-roberta-large-finetuned-conll03-english',
    'openai-community/gpt2',
  ].map((id) => [id.slice(id.indexOf('/') + 1).toLowerCase(), id] as const),
]);

/** The id with its organisation where `id` is a known short name, else `id`. */
export const wholeId = (id: string): string => SHORT.get(id.toLowerCase()) ?? id;

/** What is known about a model by its id, in any case of letters and with or without its organisation. */
export const aliasOf = (id: string): Alias | undefined => ALIASES.get(wholeId(id).toLowerCase());

/** The repositories that have the weights of a model: its own, then those that stand in for it. */
export const repositoriesOf = (id: string): [string, ...string[]] => [wholeId(id), ...(aliasOf(id)?.repositories ?? [])];

import { BYTE_OF_CHAR } from './byte-alphabet.js';

/** One step of a tokenizer before its model, or several. */
interface Step {
  readonly type?: string;
  readonly normalizers?: readonly (Step | null)[];
  readonly pretokenizers?: readonly (Step | null)[];
  readonly pattern?: { readonly String?: string };
  readonly content?: string;
  readonly behavior?: string;
}

/** The parts of `tokenizer.json` that are read here. */
interface Definition {
  readonly normalizer?: Step | null;
  readonly pre_tokenizer?: Step | null;
  readonly model?: { readonly type?: string; readonly vocab?: object; readonly merges?: unknown; readonly byte_fallback?: boolean };
  readonly added_tokens?: readonly {
    readonly content: string;
    readonly special?: boolean;
    readonly lstrip?: boolean;
    readonly rstrip?: boolean;
  }[];
}

/** Most UTF-16 units that the steps of Unicode make one unit of, or one byte: alpha with three marks becomes one, U with two marks two bytes, a bold A of two units an A. */
const COMPOSED: Readonly<Record<string, { readonly units: number; readonly bytes: number }>> = {
  NFC: { units: 4, bytes: 3 / 2 },
  NFD: { units: 4, bytes: 3 / 2 },
  NFKC: { units: 5, bytes: 2 },
  NFKD: { units: 5, bytes: 2 },
};
/** Pre-tokenizers that leave nothing of a text out. */
const KEEPING: ReadonlySet<string> = new Set(['ByteLevel', 'Metaspace', 'Digits']);

/**
 * Most UTF-16 units of text that one token stands for; undefined where a token may stand for any amount. It is known of byte pairs that spell every text out: over
 * bytes, or with a token of each byte for what the vocabulary does not have. Unigram and WordPiece have one token for whatever they do not know.
 */
export function longestToken(definition: object): number | undefined {
  const { normalizer, pre_tokenizer: before, model, added_tokens: added = [] } = definition as Definition;
  const vocab = model?.vocab ?? {};
  const isOfBytes = stepsOf([before, normalizer]).some(({ type }) => type === 'ByteLevel');
  const letters = isOfBytes ? [...BYTE_OF_CHAR.keys()] : byteTokens();
  const isPairs = model?.type === 'BPE' || (model?.type === undefined && model?.merges !== undefined);
  if (!isPairs || (!isOfBytes && model?.byte_fallback !== true) || !letters.every((letter) => Object.hasOwn(vocab, letter)))
    return undefined;
  // Tokens that take the blanks beside them. Texts of special ones are kept out of what people write.
  if (added.some(({ special, lstrip, rstrip }) => !special && (lstrip || rstrip))) return undefined;
  if (!stepsOf([before]).every(keepsAll)) return undefined;
  const shrinks = stepsOf([normalizer]).map((step) => shrunk(step, isOfBytes));
  let longest = 1;
  for (const text of [...Object.keys(vocab), ...added.map(({ content }) => content)]) longest = Math.max(longest, text.length);
  const most = shrinks.reduce<number>((product, one) => product * (one ?? Number.POSITIVE_INFINITY), longest);
  return Number.isFinite(most) ? Math.ceil(most) : undefined;
}

function byteTokens(): string[] {
  return Array.from({ length: 256 }, (_none, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
}

/** The single steps of some that may be lists; each list stands behind its members, and keeps what they keep. */
function stepsOf(steps: readonly (Step | null | undefined)[]): Step[] {
  return steps.flatMap((step) => (!step ? [] : step.type === 'Sequence' ? stepsOf(step.normalizers ?? step.pretokenizers ?? []) : [step]));
}

function keepsAll({ type = '', behavior }: Step): boolean {
  return KEEPING.has(type) || ((type === 'Split' || type === 'Punctuation') && behavior !== 'Removed');
}

/** How many units of a text a step makes one of at most; undefined where there is no such number. */
function shrunk({ type = '', pattern, content = '' }: Step, isOfBytes: boolean): number | undefined {
  const composed = COMPOSED[type];
  if (composed) return isOfBytes ? composed.bytes : composed.units;
  if (type === 'Prepend' || type === 'Lowercase' || type === 'ByteLevel') return 1;
  const replaced = type === 'Replace' ? pattern?.String : undefined;
  if (replaced === undefined || content === '') return undefined;
  return Math.max(1, replaced.length / content.length);
}

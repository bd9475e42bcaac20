import type { NativeEmbedder } from '../../../../native/contract.js';
import type { RankingFacts } from '../../../formats/gguf/ranking.js';
import { ControlGuard } from '../../tokenizers/control-texts.js';

/** What is needed to write pairs. */
interface PairWriterParts extends RankingFacts {
  readonly engine: Pick<NativeEmbedder, 'tokenize' | 'info'>;
  /** Texts that the tokenizer turns into control tokens. */
  readonly controlTexts: readonly string[];
}

/** Writes a query and a document as the tokens that a reranking model was trained on. */
export class PairWriter {
  readonly #parts: PairWriterParts;
  readonly #guard: ControlGuard;
  /** Tokens that the tokenizer puts before and after every text. */
  readonly #before: number;
  readonly #after: Int32Array;

  constructor(parts: PairWriterParts) {
    this.#parts = parts;
    this.#guard = new ControlGuard(parts.controlTexts);
    const frame = parts.engine.tokenize('');
    // A tokenizer of words has both ends, whatever the file says of them.
    this.#before = frame.length > 1 || parts.engine.info.addBos ? Math.min(frame.length, 1) : 0;
    this.#after = frame.subarray(this.#before);
  }

  /** At most `most` tokens: the longer text gives way until both fit. */
  tokens(query: string, document: string, most: number): Int32Array {
    return this.#parts.template === '' ? this.#joined(query, document, most) : this.#filled(query, document, most);
  }

  /** Start, query, end, perhaps a separator, document, end: as llama.cpp's server has it. */
  #joined(query: string, document: string, most: number): Int32Array {
    const { engine, separator } = this.#parts;
    const between = [...this.#after, ...(separator === undefined ? [] : [separator])];
    const first = engine.tokenize(query);
    const start = first.subarray(0, this.#before);
    const room = Math.max(0, most - start.length - between.length - this.#after.length);
    const [asked, read] = fitBoth(this.#bare(first), this.#bare(engine.tokenize(document)), room);
    return Int32Array.of(...start, ...asked, ...between, ...read, ...this.#after);
  }

  #bare(framed: Int32Array): Int32Array {
    return framed.subarray(this.#before, framed.length - this.#after.length);
  }

  /** The template with both texts in it; the longer text loses its end, a share at a time, until all fits. */
  #filled(query: string, document: string, most: number): Int32Array {
    const frame = this.#rendered('', '').length;
    const room = Math.max(0, most - frame);
    let [asked, read] = [query, document];
    for (;;) {
      const whole = this.#rendered(asked, read);
      if (whole.length <= most) return whole;
      if (asked === '' && read === '') return whole.slice(-most);
      const first = this.#rendered(asked, '').length - frame;
      const second = whole.length - frame - first;
      if (first > second) asked = shortenText(asked, Math.max(room - second, room / 2) / first);
      else read = shortenText(read, Math.max(room - first, room / 2) / second);
    }
  }

  #rendered(query: string, document: string): Int32Array {
    const texts: Record<string, string> = { query: this.#guard.mark(query), document: this.#guard.mark(document) };
    const prompt = this.#parts.template.replace(/\{(query|document)\}/g, (_all, name: string) => texts[name]!);
    return Int32Array.from(this.#guard.pieces(prompt).flatMap((piece) => [...this.#parts.engine.tokenize(piece, 'template')]));
  }
}

/** Both sequences in `room` tokens: the longer one loses its end until they are of equal length, then both do. */
function fitBoth(first: Int32Array, second: Int32Array, room: number): [Int32Array, Int32Array] {
  if (first.length + second.length <= room) return [first, second];
  const half = Math.floor(room / 2);
  const shorter = Math.min(first.length, second.length, half);
  const longer = room - shorter;
  return first.length <= second.length
    ? [first.subarray(0, shorter), second.subarray(0, longer)]
    : [first.subarray(0, longer), second.subarray(0, shorter)];
}

/** So much of a text from its beginning, and nine tenths at most. */
const shortenText = (text: string, share: number): string => text.slice(0, Math.floor(text.length * Math.min(0.9, share)));

import type { NativeEmbedder } from '../../../../native/contract.js';
import { backendFolders, loadInference } from '../../../../native/loader.js';
import { textTooLong } from '../../contracts/encoder.js';
import type { EncoderEmbedBody, EncoderEmbedded, EncoderOpenBody, EncoderOpened, Ranking } from './client.js';
import { PairWriter } from './pair-writer.js';

/** Tokens that go through the model before others get their turn and an abort is seen. */
const ROUND_TOKENS = 2048;

/** Texts that are tokenised before other messages are read. */
const TEXTS_AT_ONCE = 64;

interface TokenisedText {
  readonly index: number;
  readonly tokens: Int32Array;
}

/** Lets messages be read, such as the news that a caller has gone. */
const readMessages = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** An embedding or reranking model in its host process. */
export class LoadedEmbedding {
  readonly #engine: NativeEmbedder;
  /** A separator that ends every text, which stays when a text is cut; undefined where there is none. */
  readonly #end: number | undefined;
  /** Of a model that ranks. */
  readonly #pairs: PairWriter | undefined;
  /** Urgent calls that have not ended; others stand back between two rounds. */
  #urgent = 0;
  /** The end of the line: one round goes through the model at a time. */
  #line: Promise<unknown> = Promise.resolve();

  private constructor(engine: NativeEmbedder, ranking: Ranking | undefined) {
    this.#engine = engine;
    this.#pairs = ranking && new PairWriter({ ...ranking, engine });
    const frame = engine.tokenize('');
    this.#end = frame.length > (engine.info.addBos ? 1 : 0) ? frame.at(-1) : undefined;
  }

  /** Loads weights and makes the context. */
  static async open(body: EncoderOpenBody): Promise<{ model: LoadedEmbedding; opened: EncoderOpened }> {
    const addon = loadInference();
    const devices = addon.loadBackends(backendFolders());
    const { path, gpuLayers, threads, flashAttention, maxLength, ranking } = body;
    const engine = await addon.openEmbedder(
      path,
      { gpuLayers, mmap: true, mlock: false },
      { contextSize: maxLength, threads, flashAttention, ranks: ranking !== undefined },
    );
    const { info, contextSize, dimensions, pooling, poolingKnown } = engine;
    const shown = devices.map(({ name, kind }) => ({ name, kind }));
    const opened = { native: info, maxLength: contextSize, dimensions, pooling, poolingKnown, devices: shown };
    return { model: new LoadedEmbedding(engine, ranking), opened };
  }

  /** Vectors, or scores of pairs with the query, in the order of the texts. Texts of like length go together; throws the reason of the abort between two rounds. */
  async embed({ texts, query, urgent, maxLength, whole }: EncoderEmbedBody, signal: AbortSignal): Promise<EncoderEmbedded> {
    const tokensOf = (text: string): Int32Array =>
      this.#pairs && query !== undefined
        ? this.#pairs.tokens(query, text, maxLength)
        : this.#cut(this.#engine.tokenize(text), maxLength, whole);
    if (urgent) this.#urgent += 1;
    try {
      const all = await this.#tokenised(texts, tokensOf, signal);
      const vectors = new Float32Array(texts.length * this.#engine.dimensions);
      for (const round of roundsOf([...all].sort((a, b) => a.tokens.length - b.tokens.length))) {
        await this.#turn(urgent, signal);
        const rows = await this.#round(round);
        for (const [at, { index }] of round.entries()) {
          const from = at * this.#engine.dimensions;
          vectors.set(rows.subarray(from, from + this.#engine.dimensions), index * this.#engine.dimensions);
        }
      }
      return { vectors, tokens: all.map(({ tokens }) => tokens.length) };
    } finally {
      if (urgent) this.#urgent -= 1;
    }
  }

  close(): Promise<void> {
    return this.#engine.close();
  }

  async #tokenised(texts: readonly string[], tokensOf: (text: string) => Int32Array, signal: AbortSignal): Promise<TokenisedText[]> {
    const all: TokenisedText[] = [];
    for (const [index, text] of texts.entries()) {
      if (index % TEXTS_AT_ONCE === 0) {
        await readMessages();
        signal.throwIfAborted();
      }
      all.push({ index, tokens: tokensOf(text) });
    }
    return all;
  }

  #cut(tokens: Int32Array, most: number, whole: boolean): Int32Array {
    if (tokens.length <= most) return tokens;
    if (whole) throw textTooLong(tokens.length, most);
    const cut = tokens.slice(0, most);
    if (this.#end !== undefined && most > 1) cut[most - 1] = this.#end;
    return cut;
  }

  /** Waits until nobody urgent is there, where the caller is not, and reads messages in between. */
  async #turn(urgent: boolean, signal: AbortSignal): Promise<void> {
    await readMessages();
    while (!urgent && this.#urgent > 0) {
      signal.throwIfAborted();
      await this.#line.catch(() => {});
      await readMessages();
    }
    signal.throwIfAborted();
  }

  #round(round: readonly TokenisedText[]): Promise<Float32Array> {
    const lengths = Int32Array.from(round, ({ tokens }) => tokens.length);
    const flat = new Int32Array(lengths.reduce((sum, length) => sum + length, 0));
    let at = 0;
    for (const { tokens } of round) {
      flat.set(tokens, at);
      at += tokens.length;
    }
    const work = this.#line.catch(() => {}).then(() => this.#engine.embed(flat, lengths));
    this.#line = work;
    return work;
  }
}

/** Texts in groups of at most so many tokens, or one text. */
function* roundsOf(texts: readonly TokenisedText[]): Generator<TokenisedText[]> {
  let round: TokenisedText[] = [];
  let size = 0;
  for (const text of texts) {
    if (size + text.tokens.length > ROUND_TOKENS && round.length > 0) {
      yield round;
      round = [];
      size = 0;
    }
    round.push(text);
    size += text.tokens.length;
  }
  if (round.length > 0) yield round;
}

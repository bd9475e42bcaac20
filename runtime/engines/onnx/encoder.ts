import { Failure } from '../../../schemas/errors.js';
import { placesOf } from './alignment.js';
import { Batcher, type Row } from './batcher.js';
import type { OnnxSession, Tensor } from './contract.js';
import { DenseLayer } from './dense.js';
import { EncoderGraph } from './encoder-graph.js';
import { type EncoderSettings, readEncoderSettings } from './encoder-settings.js';
import { entitiesOf, type PlacedToken } from './entities.js';
import { inspectGraph } from './graph-file.js';
import { finite, normalise, pooled, rowStates } from './pooling.js';
import { openSession } from './session.js';
import { type Body, type Encoded, EncoderTokenizer } from './tokenizer.js';
import type { CallBody, EntitiesReply, NumbersReply, OpenBody, OpenedEncoder } from './wire.js';

/** Texts that are tokenised at a time, before other messages have their turn. */
const TOKENISED_AT_ONCE = 32;
const PROBE = 'a';

interface Parts {
  readonly body: OpenBody;
  readonly settings: EncoderSettings;
  readonly session: OnnxSession;
  readonly tokenizer: EncoderTokenizer;
  readonly graph: EncoderGraph;
  readonly dense: readonly DenseLayer[];
}

/** A text in tokens, ready to be run. */
interface Ready {
  readonly text: string;
  readonly body: Body;
  readonly encoded: Encoded;
}

/** An encoder in this process: texts in, vectors, scores or entities out. */
export class LoadedEncoder {
  readonly #parts: Parts;
  readonly #batcher: Batcher<Tensor>;
  readonly opened: OpenedEncoder;

  private constructor(parts: Parts, probe: Tensor, sizeBytes: number) {
    const { body, settings, session, graph, dense } = parts;
    this.#parts = parts;
    this.#batcher = new Batcher(settings.maxLength, (rows, length) => graph.run(rows, length));
    const width = probe.dims.at(-1)!;
    const isEmbedding = body.task === 'embedding';
    const named = settings.labels.length === width;
    this.opened = {
      architecture: settings.architecture,
      sizeBytes,
      dimensions: isEmbedding ? (dense.at(-1)?.outputs ?? width) : null,
      maxLength: settings.maxLength,
      pooling: isEmbedding && probe.dims.length === 3 ? settings.pooling : null,
      labels: isEmbedding ? [] : named ? settings.labels : Array.from({ length: width }, (_, index) => String(index)),
      providers: session.providers,
      notes: settings.notes,
    };
  }

  /** Reads the files, opens the graph and runs it once. Throws `invalid` for files that cannot be right, `bad_request` for a model of another task. */
  static async open(body: OpenBody): Promise<LoadedEncoder> {
    const { sizeBytes } = inspectGraph(body.model);
    const settings = readEncoderSettings(body);
    const tokenizer = new EncoderTokenizer(settings.tokenizer, settings.tokenizerConfig);
    const session = await openSession(body.model, { threads: body.threads, provider: body.provider, shapesVary: true });
    const { firstPosition, paddingId = tokenizer.paddingId } = settings;
    const graph = new EncoderGraph(session, { name: body.name, task: body.task, paddingId, firstPosition });
    const dense = settings.dense.map((folder) => new DenseLayer(folder));
    const { ids, types } = tokenizer.single(tokenizer.body(PROBE, settings.maxLength), settings.maxLength);
    const probe = await graph.run([{ ids, types, take: () => {} }], ids.length).catch((error: unknown) => {
      // A model that fails at its first word is at fault, not the word.
      throw error instanceof Failure && error.kind === 'model_failed'
        ? new Failure('invalid', error.message, { code: 'InvalidModelFile' })
        : error;
    });
    return new LoadedEncoder({ body, settings, session, tokenizer, graph, dense }, probe, sizeBytes);
  }

  /** One vector of length 1 per text. */
  async embed(call: CallBody, signal: AbortSignal): Promise<NumbersReply> {
    const { dense, settings } = this.#parts;
    return this.#numbers(call, signal, this.opened.dimensions!, (output, index, { encoded }) => {
      const vector = pooled(rowStates(output, index, encoded.ids.length), settings.pooling);
      return normalise(dense.reduce((before, layer) => layer.apply(before), vector));
    });
  }

  /** Logits of the head per text or pair. */
  async score(call: CallBody, signal: AbortSignal): Promise<NumbersReply> {
    return this.#numbers(call, signal, this.opened.labels.length, (output, index) => finite(rowStates(output, index, 1).values));
  }

  /** Entities of each text. */
  async entities(call: CallBody, signal: AbortSignal): Promise<EntitiesReply> {
    const entities = call.texts.map((): EntitiesReply['entities'][number] => []);
    const tokens = await this.#each(call, signal, (output, index, ready, at) => {
      const { values, dimensions } = rowStates(output, index, ready.encoded.ids.length);
      finite(values);
      entities[at] = entitiesOf(ready.text, this.#placed(ready, values, dimensions), this.opened.labels);
    });
    return { entities, tokens };
  }

  close(): Promise<void> {
    return this.#parts.session.close();
  }

  async #numbers(
    call: CallBody,
    signal: AbortSignal,
    width: number,
    read: (output: Tensor, index: number, ready: Ready) => Float32Array,
  ): Promise<NumbersReply> {
    const values = new Float32Array(call.texts.length * width);
    const tokens = await this.#each(call, signal, (output, index, ready, at) => values.set(read(output, index, ready), at * width));
    return { values, width, tokens };
  }

  /** Tokenises and runs the texts of a call, part by part; gives the tokens of each. */
  async #each(
    call: CallBody,
    signal: AbortSignal,
    take: (output: Tensor, index: number, ready: Ready, at: number) => void,
  ): Promise<number[]> {
    const limit = Math.min(call.maxLength ?? Number.POSITIVE_INFINITY, this.opened.maxLength);
    const encode = this.#encoding(call, limit);
    const tokens: number[] = [];
    const running: Promise<void>[] = [];
    for (let from = 0; from < call.texts.length; from += TOKENISED_AT_ONCE) {
      signal.throwIfAborted();
      const rows = call.texts.slice(from, from + TOKENISED_AT_ONCE).map((text, offset): Row<Tensor> => {
        const ready = encode(text, from + offset);
        const { ids, types } = ready.encoded;
        tokens.push(ids.length);
        return { ids, types, take: (output, index) => take(output, index, ready, from + offset) };
      });
      const done = this.#batcher.submit(rows, call.urgency, signal);
      done.catch(() => {});
      running.push(done);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(running);
    return tokens;
  }

  #encoding({ query, pairs }: CallBody, limit: number): (text: string, at: number) => Ready {
    const { tokenizer } = this.#parts;
    const first = query === undefined ? undefined : tokenizer.body(query, limit);
    return (text, at) => {
      const body = tokenizer.body(text, limit);
      if (first) return { text, body, encoded: tokenizer.pair(first, body, limit) };
      if (pairs) return { text, body, encoded: tokenizer.pair(body, tokenizer.body(pairs[at]!, limit), limit) };
      return { text, body, encoded: tokenizer.single(body, limit) };
    };
  }

  /** The text's own tokens that were run, with their places and logits. */
  #placed({ text, body, encoded }: Ready, values: Float32Array, labels: number): PlacedToken[] {
    const { tokenizer } = this.#parts;
    const run = Math.min(body.tokens.length, encoded.ids.length - tokenizer.framing(false));
    return placesOf(text, body.tokens.slice(0, run), tokenizer).flatMap((place, at) => {
      const row = (encoded.bodyStart + at) * labels;
      return place ? [{ place, logits: values.subarray(row, row + labels) }] : [];
    });
  }
}

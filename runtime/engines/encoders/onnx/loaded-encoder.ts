import { Failure } from '../../../../schemas/errors.js';
import { inspectGraph } from '../../../formats/onnx/graph-file.js';
import { type Pooling, textTooLong } from '../../contracts/encoder.js';
import { whileOpening } from '../../onnx/session.js';
import { type Encoded, EncoderTokenizer } from '../../tokenizers/tokenizer.js';
import { Batcher, type Row } from './batcher.js';
import type { CallBody, EntitiesReply, NumbersReply, OpenBody, OpenedEncoder } from './client.js';
import { type EncoderFacts, readEncoderFacts } from './encoder-files.js';
import { entitiesOf, type Labelling, labelOf, type Window, windowsOf } from './entities.js';
import { openPass, probePass } from './open-pass.js';
import type { Batch, EncoderPass } from './pass.js';
import { normalise, poolStates, requireFinite } from './pooling.js';
import { type VectorStep, vectorSteps } from './sentence-modules.js';
import { placesOf } from './token-places.js';

/** Texts that are tokenised at a time, before other messages have their turn. */
const TOKENISED_AT_ONCE = 32;

/** Tokens of one text that is searched for entities: some sixty pages. */
const SEARCHED_TOKENS = 32_768;
const PROBE = 'a';

/** Where neither the files nor the alias table say: most sentence models take it. */
const DEFAULT_POOLING: Pooling = 'mean';

interface EncoderParts {
  readonly body: OpenBody;
  readonly settings: EncoderFacts;
  readonly pass: EncoderPass;
  readonly tokenizer: EncoderTokenizer;
  /** What comes after pooling. */
  readonly steps: readonly VectorStep[];
}

/** What a text becomes: the rows that are run for it, and how many of its tokens are read. */
interface PreparedText {
  readonly rows: readonly Row<Batch>[];
  readonly tokens: number;
}

/** An encoder in this process: texts in, vectors, scores or entities out. */
export class LoadedEncoder {
  readonly #parts: EncoderParts;
  readonly #batcher: Batcher<Batch>;
  readonly opened: OpenedEncoder;

  private constructor(parts: EncoderParts, { width, isPerToken }: Batch, sizeBytes: number) {
    const { body, settings, pass, steps } = parts;
    this.#parts = parts;
    this.#batcher = new Batcher(pass.layout, (...batch) => pass.run(...batch));
    const { name, whyNotNative, providers } = pass.engine;
    const isEmbedding = body.task === 'embedding';
    const named = settings.labels.length === width;
    // A head's outputs, and the vectors of a graph that pools itself, are taken as they are.
    const poolsTokens = isEmbedding && isPerToken;
    const notes = [...settings.notes];
    if (poolsTokens && !settings.pooling) notes.push(`The model does not say how its vectors are pooled; the ${DEFAULT_POOLING} is used.`);
    if (whyNotNative !== null) notes.push(`ONNX Runtime runs it, and not the native pass, because ${whyNotNative}.`);
    this.opened = {
      architecture: settings.architecture,
      sizeBytes,
      dimensions: isEmbedding ? (steps.at(-1)?.outputs ?? width) : null,
      maxLength: settings.maxLength,
      pooling: poolsTokens ? (settings.pooling ?? DEFAULT_POOLING) : null,
      labels: isEmbedding ? [] : named ? settings.labels : Array.from({ length: width }, (_, index) => String(index)),
      ...(settings.problem === undefined ? {} : { problem: settings.problem }),
      providers,
      engine: name,
      notes,
    };
  }

  /** Reads the files, opens the graph and runs it once. Throws `invalid` for files that cannot be right, `bad_request` for a model of another task. */
  static async open(body: OpenBody): Promise<LoadedEncoder> {
    const { sizeBytes } = inspectGraph(body.model, body.folder);
    const settings = readEncoderFacts(body);
    const tokenizer = new EncoderTokenizer(settings.tokenizer, settings.tokenizerConfig);
    const { firstPosition, lengthLimit: maxLength, paddingId = tokenizer.paddingId } = settings;
    const { name, task, threads, provider, engine, folder } = body;
    const wanted = { name, task, paddingId, firstPosition, maxLength, pooling: settings.pooling ?? DEFAULT_POOLING };
    const pass = await openPass(body.model, wanted, { threads, provider, engine, sizeBytes, folder });
    const { ids, types } = tokenizer.single(tokenizer.body(PROBE, maxLength), maxLength);
    const probe = await whileOpening({ sizeBytes, threads, providers: pass.engine.providers.used }, () =>
      probePass(pass, { ids, types, take: () => {} }, name),
    );
    // Where the graph pools by itself, its vectors are taken as they are.
    const steps = probe.isPerToken ? vectorSteps(body.folder, settings.modules, probe.width) : [];
    return new LoadedEncoder({ body, settings, pass, tokenizer, steps }, probe, sizeBytes);
  }

  /** One vector of length 1 per text. */
  async embed(call: CallBody, signal: AbortSignal): Promise<NumbersReply> {
    const { steps, body } = this.#parts;
    const pooling = this.opened.pooling ?? DEFAULT_POOLING;
    return this.#numbers(call, signal, this.opened.dimensions!, (output, index, { ids }) => {
      const vector = poolStates(output.states(index, ids.length), pooling);
      return normalise(
        steps.reduce((before, step) => step.apply(before), vector),
        body.name,
      );
    });
  }

  /** Logits of the head per text or pair. */
  async score(call: CallBody, signal: AbortSignal): Promise<NumbersReply> {
    return this.#numbers(call, signal, this.opened.labels.length, (output, index) =>
      requireFinite(output.states(index, 1).values, this.#parts.body.name),
    );
  }

  /** Entities of each text. A text that is longer than the model reads at once goes through it in windows that overlap. */
  async entities(call: CallBody, signal: AbortSignal): Promise<EntitiesReply> {
    const entities = call.texts.map((): EntitiesReply['entities'][number] => []);
    const limit = this.#limit(call);
    const prepare = (text: string, at: number): PreparedText => this.#searched(text, limit, (found) => void entities[at]!.push(...found));
    const tokens = await this.#each(call, signal, prepare);
    return { entities, tokens };
  }

  close(): Promise<void> {
    return this.#parts.pass.close();
  }

  async #numbers(
    call: CallBody,
    signal: AbortSignal,
    width: number,
    read: (output: Batch, index: number, encoded: Encoded) => Float32Array,
  ): Promise<NumbersReply> {
    const values = new Float32Array(call.texts.length * width);
    const encode = this.#encoding(call);
    const tokens = await this.#each(call, signal, (text, at) => {
      const encoded = encode(text, at);
      const take: Row<Batch>['take'] = (output, index) => values.set(read(output, index, encoded), at * width);
      return { rows: [{ ids: encoded.ids, types: encoded.types, take }], tokens: encoded.ids.length };
    });
    return { values, width, tokens };
  }

  /** Tokenises and runs the texts of a call, part by part; gives the tokens of each. */
  async #each(call: CallBody, signal: AbortSignal, prepare: (text: string, at: number) => PreparedText): Promise<number[]> {
    const tokens: number[] = [];
    const running: Promise<void>[] = [];
    for (let from = 0; from < call.texts.length; from += TOKENISED_AT_ONCE) {
      signal.throwIfAborted();
      const part = call.texts.slice(from, from + TOKENISED_AT_ONCE).map((text, offset) => prepare(text, from + offset));
      tokens.push(...part.map((ready) => ready.tokens));
      const done = this.#batcher.submit(
        part.flatMap((ready) => ready.rows),
        call.urgency,
        signal,
      );
      done.catch(() => {});
      running.push(done);
      if (from + TOKENISED_AT_ONCE < call.texts.length) await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(running);
    return tokens;
  }

  /** Tokens of a text, or of a pair, with those that frame it. Throws `invalid` where they leave no room for each text. */
  #limit({ maxLength, query, pairs }: CallBody): number {
    const { settings, tokenizer } = this.#parts;
    const limit = Math.min(maxLength ?? settings.maxLength, settings.lengthLimit);
    const isPair = query !== undefined || pairs !== undefined;
    const least = tokenizer.framing(isPair) + (isPair ? 2 : 1);
    if (limit >= least) return limit;
    const msg = `max_length is ${limit}, and ${least - (isPair ? 2 : 1)} tokens frame what this model reads; ${least} are the least`;
    throw new Failure('invalid', `${msg}.`, { errors: [{ type: 'greater_than_equal', loc: ['body', 'max_length'], msg, input: limit }] });
  }

  #encoding(call: CallBody): (text: string, at: number) => Encoded {
    const { tokenizer } = this.#parts;
    const { query, pairs } = call;
    const limit = this.#limit(call);
    const first = query === undefined ? undefined : tokenizer.truncated(query, limit);
    return (text, at) => {
      const kept = tokenizer.truncated(text, limit);
      if (call.whole && kept.ids.length > limit - tokenizer.framing(false)) throw textTooLong(kept.ids.length, limit);
      if (first) return tokenizer.pair(first, kept, limit);
      return pairs ? tokenizer.pair(kept, tokenizer.truncated(pairs[at]!, limit), limit) : tokenizer.text(kept, limit);
    };
  }

  /** The rows of a text that is searched for entities, `limit` tokens at a time; `found` gets them when the last row was run. */
  #searched(text: string, limit: number, found: (entities: EntitiesReply['entities'][number]) => void): PreparedText {
    const { tokenizer } = this.#parts;
    const { ids, tokens } = tokenizer.body(text, SEARCHED_TOKENS);
    if (ids.length > SEARCHED_TOKENS) throw textTooLongToSearch(text);
    const framing = tokenizer.framing(false);
    const room = limit - framing;
    const windows = windowsOf(ids.length, room);
    const labellings: Labelling[] = [];
    let left = windows.length;
    const row = (window: Window): Row<Batch> => {
      const part = tokenizer.single({ ids: ids.slice(window.start, window.end), tokens: [] }, room + framing);
      return {
        ids: part.ids,
        types: part.types,
        take: (output, index) => {
          this.#read(output, index, part, window, labellings);
          left -= 1;
          if (left > 0) return;
          const placed = placesOf(text, tokens, tokenizer).flatMap((place, at) => (place ? [{ place, ...labellings[at]! }] : []));
          found(entitiesOf(text, placed, this.opened.labels));
        },
      };
    };
    return { rows: windows.map(row), tokens: ids.length + framing };
  }

  /** Notes the labels of a window's own tokens. Throws `model_failed` for logits that are not finite. */
  #read(output: Batch, index: number, { ids, bodyStart }: Encoded, window: Window, labellings: Labelling[]): void {
    const { values, dimensions } = output.states(index, ids.length);
    for (let at = window.from; at < window.to; at += 1) {
      const start = (bodyStart + at - window.start) * dimensions;
      labellings[at] = labelOf(requireFinite(values.subarray(start, start + dimensions), this.#parts.body.name));
    }
  }
}

function textTooLongToSearch(text: string): Failure {
  const msg = `a text of ${text.length} characters has more than ${SEARCHED_TOKENS} tokens, the most that are searched for entities`;
  return new Failure('invalid', `texts: ${msg}. Split it.`, {
    errors: [{ type: 'too_long', loc: ['body', 'texts'], msg, input: text.length }],
  });
}

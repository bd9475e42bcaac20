import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import type { Pixels } from '../../pictures/picture.js';
import type { OnnxOptions, OnnxSession } from '../onnx/contract.js';
import { fixedSize } from '../onnx/image-input.js';
import { openSession } from '../onnx/session.js';
import { openTokenizer } from '../tokenizers/open-tokenizer.js';
import { type ChosenToken, Decoder, meanOf, writeGreedily } from './decoder.js';
import { encoderInput } from './encoder-input.js';
import { encoderGraph, writerFiles } from './graphs.js';
import { type DecoderSettings, decoderSettings, type ImageSettings, imageSettings, readMembers } from './settings.js';

const HIDDEN = 'last_hidden_state';

/** An encoder that sees an image and a decoder that writes about it, from the files of one model. */
export class ImageWriter {
  readonly #encoder: OnnxSession;
  readonly #decoder: Decoder;
  readonly #image: ImageSettings;
  readonly tokens: TokenText;
  readonly settings: DecoderSettings;

  private constructor(encoder: OnnxSession, decoder: Decoder, image: ImageSettings, tokens: TokenText, settings: DecoderSettings) {
    this.#encoder = encoder;
    this.#decoder = decoder;
    this.#image = image;
    this.tokens = tokens;
    this.settings = settings;
  }

  /** Opens the model whose files lie below `folder`. Throws `invalid` that names the file that does not fit. */
  static async open(folder: string, files: readonly string[], options: OnnxOptions): Promise<ImageWriter> {
    const graph = encoderGraph(files);
    if (graph === undefined)
      throw new Failure('invalid', 'The model has no encoder_model.onnx; export it with its encoder.', { code: 'InvalidModelFile' });
    const [config, generation, preprocessor] = await Promise.all(
      ['config.json', 'generation_config.json', 'preprocessor_config.json'].map((name) => readMembers(folder, name)),
    );
    const tokens = await TokenText.open(folder);
    const encoder = await openSession(`${folder}/${graph}`, { folder, ...options });
    const decoder = await Decoder.open(folder, files, options);
    const [input] = encoder.inputs;
    const image = imageSettings(preprocessor, fixedSize(input!, encoder.file));
    return new ImageWriter(encoder, decoder, image, tokens, decoderSettings(config, generation));
  }

  get providers() {
    return this.#encoder.providers;
  }

  /** Writes about an image, begun with `start`; probabilities of `watch` come with each token. */
  async write(pixels: Pixels, start: readonly number[], signal: AbortSignal, watch: readonly number[] = []): Promise<ChosenToken[]> {
    const [input] = this.#encoder.inputs;
    const output = this.#encoder.outputs.find(({ name }) => name === HIDDEN) ?? this.#encoder.outputs[0]!;
    const seen = (await this.#encoder.run({ [input!.name]: await encoderInput(pixels, this.#image) }, [output.name]))[output.name]!;
    const { startId, endId, maxLength } = this.settings;
    const banned = this.tokens.unknownId === undefined ? [] : [this.tokens.unknownId];
    return writeGreedily(this.#decoder, seen, { start: start.length > 0 ? start : [startId], endId, banned, maxLength, watch }, signal);
  }
}

/** Reads the image of one line by writing it, as surya and TrOCR do. */
export class LineWriter {
  readonly #writer: ImageWriter;

  private constructor(writer: ImageWriter) {
    this.#writer = writer;
  }

  /** Opens the encoder and decoder of a folder or of its folder `onnx`, in the best format that they share. */
  static async open(folder: string, options: OnnxOptions): Promise<LineWriter> {
    const inner = await readdir(join(folder, 'onnx')).catch(() => [] as string[]);
    const files = [...(await readdir(folder)), ...inner.map((file) => `onnx/${file}`)];
    return new LineWriter(await ImageWriter.open(folder, writerFiles(files), options));
  }

  /** The text of a line and the mean probability of its tokens. */
  async write(line: Pixels, signal: AbortSignal): Promise<{ text: string; confidence: number }> {
    const chosen = await this.#writer.write(line, [], signal);
    return { text: this.#writer.tokens.plain(chosen.map(({ id }) => id)).trim(), confidence: meanOf(chosen) };
  }
}

/** Texts to tokens and back, for models that write. */
class TokenText {
  readonly #tokenizer: ReturnType<typeof openTokenizer>;
  readonly unknownId: number | undefined;

  private constructor(tokenizer: ReturnType<typeof openTokenizer>) {
    this.#tokenizer = tokenizer;
    const unknown = tokenizer.model?.unk_token;
    this.unknownId = unknown === undefined ? undefined : tokenizer.token_to_id(unknown);
  }

  /** Reads `tokenizer.json` of a folder. Throws `invalid` where it is absent or none. */
  static async open(folder: string): Promise<TokenText> {
    const [definition, config = {}] = await Promise.all([
      readMembers(folder, 'tokenizer.json'),
      readMembers(folder, 'tokenizer_config.json'),
    ]);
    if (!definition)
      throw new Failure('invalid', 'The model has no tokenizer.json; get it again with all its files.', { code: 'InvalidModelFile' });
    try {
      return new TokenText(openTokenizer(definition, config));
    } catch (cause) {
      if (cause instanceof Failure) throw cause;
      throw new Failure('invalid', 'tokenizer.json is not a usable tokenizer; get the model again.', { code: 'InvalidModelFile', cause });
    }
  }

  /** Ids of a text; tags that the vocabulary has are one token. */
  ids(text: string): number[] {
    return this.#tokenizer.encode(text, { add_special_tokens: false }).ids;
  }

  /** The text of tokens, tags included. */
  text(ids: readonly number[]): string {
    return ids.length === 0 ? '' : this.#tokenizer.decode([...ids], { skip_special_tokens: false, clean_up_tokenization_spaces: false });
  }

  /** The text of tokens without those that frame it. */
  plain(ids: readonly number[]): string {
    return ids.length === 0 ? '' : this.#tokenizer.decode([...ids], { skip_special_tokens: true });
  }

  /** Added tokens whose text fits a pattern. */
  tags(pattern: RegExp): { id: number; text: string }[] {
    return [...this.#tokenizer.get_added_tokens_decoder()]
      .map(([id, { content }]) => ({ id, text: content }))
      .filter(({ text }) => pattern.test(text));
  }
}

import { Failure } from '../../../schemas/errors.js';
import type { Pixels } from '../../pictures/picture.js';
import type { DocumentAnswer, DocumentField, DocumentQuestion } from '../contracts/documents.js';
import type { OcrBox } from '../contracts/ocr.js';
import { integers, unknownInput } from '../image-text/decoder.js';
import { encoderInput } from '../image-text/encoder-input.js';
import { layoutGraph } from '../image-text/graphs.js';
import { type ImageSettings, imageSettings, labelsOf, type Members, readMembers } from '../image-text/settings.js';
import type { OnnxOptions, OnnxSession, Tensor, TensorSlot } from '../onnx/contract.js';
import { float32Of } from '../onnx/float16.js';
import { fixedSize } from '../onnx/image-input.js';
import { openSession } from '../onnx/session.js';
import { EncoderTokenizer } from '../tokenizers/tokenizer.js';

/** Places on a page are told in thousandths of it. */
const PAGE_UNITS = 1000;
const LENGTH = 512;
/** Framing tokens stand nowhere; those that end a text stand, as in training, in the lower right corner, but for LayoutLMv3. */
const NOWHERE = [0, 0, 0, 0] as const;
const CORNER = [PAGE_UNITS, PAGE_UNITS, PAGE_UNITS, PAGE_UNITS] as const;
/** Stands for a token of a text whose place in its frame is looked for. */
const PROBE = -1;
const IMAGE = /^(?:pixel_values|image)$/;

/** What goes into the graph, and the word behind each token. */
interface LaidOut extends TokenWords {
  readonly ids: readonly number[];
  readonly types: readonly number[];
  readonly boxes: readonly (readonly number[])[];
}

/** Where the tokens that end a text stand: by `tokenizer_config.json`, else by the version of the model. */
function endPlace({ sep_token_box: own, tokenizer_class: kind }: Members, { model_type: type }: Members): readonly number[] {
  if (Array.isArray(own) && own.length === 4 && own.every((value) => Number.isInteger(value) && value >= 0 && value <= PAGE_UNITS))
    return own;
  return type === 'layoutlmv3' || String(kind).startsWith('LayoutLMv3') ? NOWHERE : CORNER;
}

/** A model that looks at words and their places on the page: LayoutLM in its versions. */
export class LayoutModel {
  readonly #session: OnnxSession;
  readonly #tokenizer: EncoderTokenizer;
  readonly #config: Members;
  readonly #endPlace: readonly number[];
  /** Undefined for a model that sees only words. */
  readonly #image: ImageSettings | undefined;

  private constructor(
    session: OnnxSession,
    tokenizer: EncoderTokenizer,
    { config, end, image }: { config: Members; end: readonly number[]; image: ImageSettings | undefined },
  ) {
    this.#session = session;
    this.#tokenizer = tokenizer;
    this.#config = config;
    this.#endPlace = end;
    this.#image = image;
  }

  /** Opens the model whose files lie below `folder`. Throws `invalid` that names the file that does not fit. */
  static async open(folder: string, files: readonly string[], options: OnnxOptions): Promise<LayoutModel> {
    const graph = layoutGraph(files);
    if (graph === undefined) throw new Failure('invalid', 'The model has no model.onnx; export it to ONNX.', { code: 'InvalidModelFile' });
    const [definition, config = {}, tokenizerConfig = {}, preprocessor] = await Promise.all(
      ['tokenizer.json', 'config.json', 'tokenizer_config.json', 'preprocessor_config.json'].map((name) => readMembers(folder, name)),
    );
    const tokenizer = new EncoderTokenizer(definition ?? {}, tokenizerConfig);
    const session = await openSession(`${folder}/${graph}`, { folder, ...options });
    const input = session.inputs.find(({ name }) => IMAGE.test(name));
    const image = input && imageSettings(preprocessor, fixedSize(input, session.file));
    return new LayoutModel(session, tokenizer, { config, end: endPlace(tokenizerConfig, config), image });
  }

  get providers() {
    return this.#session.providers;
  }

  /** Throws `bad_request` for a task that the model has no head for. */
  async ask(pixels: Pixels, { task, prompt, words = [] }: DocumentQuestion): Promise<DocumentAnswer> {
    const laid = this.#layOut(task === 'vqa' ? prompt : null, words, pixels);
    const feeds: Record<string, Tensor> = {};
    for (const slot of this.#session.inputs) feeds[slot.name] = await this.#feed(slot, laid, pixels);
    const answer = await this.#session.run(feeds);
    const head = (name: string): Float32Array => {
      const tensor = answer[name];
      if (tensor) return float32Of(tensor);
      throw new Failure('bad_request', `The model has no head for task "${task}"; it gives ${Object.keys(answer).join(', ')}.`, {
        code: 'WrongTask',
      });
    };
    if (task === 'vqa') return answerOf(head('start_logits'), head('end_logits'), laid, words);
    const logits = head('logits');
    const ofTokens = answer.logits!.dims.length === 3;
    if (ofTokens !== (task === 'extraction'))
      throw new Failure(
        'bad_request',
        `The model classifies ${ofTokens ? 'words' : 'whole pages'}; ask for "${ofTokens ? 'extraction' : 'classification'}".`,
        {
          code: 'WrongTask',
        },
      );
    const labels = labelsOf(this.#config, answer.logits!.dims.at(-1)!);
    return ofTokens ? fieldsOf(logits, labels, laid, words) : classOf(logits, labels);
  }

  #layOut(question: string | null, words: readonly OcrBox[], { width, height }: Pixels): LaidOut {
    // Python's tokenizers for these models split a question at its white space first.
    const asked = question === null ? undefined : this.#tokenizer.body(question.trim().replace(/\s+/g, ' '), LENGTH);
    const space = this.#tokenizer.spelling === 'bytes' ? ' ' : '';
    const tokens = words.flatMap(({ text }, word) => this.#tokenizer.body(space + text, LENGTH).ids.map((id) => ({ id, word })));
    const probe = { ids: [PROBE], tokens: [''] };
    const body = { ids: tokens.map(({ id }) => id), tokens: [] };
    const limit = Math.min(LENGTH, Number(this.#config.max_position_embeddings ?? LENGTH));
    const framing = asked ? this.#tokenizer.pair(asked, probe, LENGTH) : this.#tokenizer.single(probe, LENGTH);
    const encoded = asked ? this.#tokenizer.pair(asked, body, limit) : this.#tokenizer.single(body, limit);
    const start = framing.ids.indexOf(PROBE);
    const wordOf = encoded.ids.map((_, at) =>
      at >= start && at < encoded.ids.length - (framing.ids.length - 1 - start) ? tokens[at - start]!.word : -1,
    );
    const place = (word: number): number[] => {
      const { x1, y1, x2, y2 } = words[word]!;
      const units = (value: number, size: number): number => Math.max(0, Math.min(PAGE_UNITS, Math.floor((value * PAGE_UNITS) / size)));
      return [units(x1, width), units(y1, height), units(x2, width), units(y2, height)];
    };
    const ending = encoded.ids.at(-1);
    const boxes = wordOf.map((word, at) => (word >= 0 ? place(word) : encoded.ids[at] === ending ? this.#endPlace : NOWHERE));
    return { ids: encoded.ids, types: encoded.types, boxes, wordOf };
  }

  async #feed(slot: TensorSlot, { ids, types, boxes }: LaidOut, pixels: Pixels): Promise<Tensor> {
    const { name } = slot;
    if (name === 'input_ids') return integers(ids, [1, ids.length]);
    if (name === 'token_type_ids') return integers(types, [1, ids.length]);
    if (name === 'attention_mask')
      return integers(
        ids.map(() => 1),
        [1, ids.length],
      );
    if (name === 'bbox') return integers(boxes.flat(), [1, ids.length, 4]);
    if (IMAGE.test(name)) return encoderInput(pixels, this.#image!);
    throw unknownInput(this.#session.file, name);
  }
}

/** The word behind each token of a page; -1 for those that are none of the page's words. */
interface TokenWords {
  readonly wordOf: readonly number[];
}

/** What is answered where the page does not say. */
const NO_ANSWER = '[No answer found]';

/** Probabilities of logits. */
function softmax(logits: Float32Array): number[] {
  const highest = logits.reduce((most, one) => Math.max(most, one), Number.NEGATIVE_INFINITY);
  const parts = Array.from(logits, (logit) => Math.exp(logit - highest));
  const sum = parts.reduce((total, one) => total + one, 0);
  return parts.map((part) => part / sum);
}

const highestAt = (values: readonly number[]): number => values.reduce((best, value, at) => (value > values[best]! ? at : best), 0);

/** The words between the likeliest start and end, which change places where they are reversed. */
export function answerOf(
  startLogits: Float32Array,
  endLogits: Float32Array,
  { wordOf }: TokenWords,
  words: readonly OcrBox[],
): DocumentAnswer {
  const [starts, ends] = [softmax(startLogits), softmax(endLogits)];
  const [start, end] = [highestAt(starts), highestAt(ends)];
  const [from, to] = [wordOf[Math.min(start, end)] ?? -1, wordOf[Math.max(start, end)] ?? -1];
  const text =
    from < 0 || to < 0
      ? ''
      : words
          .slice(from, to + 1)
          .map((word) => word.text)
          .join(' ');
  return text === '' ? { confidence: 0, answer: NO_ANSWER } : { confidence: (starts[start]! + ends[end]!) / 2, answer: text };
}

/** The likeliest class of the page, and the probability of each. */
export function classOf(logits: Float32Array, labels: readonly string[]): DocumentAnswer {
  const scores = softmax(logits);
  const best = highestAt(scores);
  const classificationScores = Object.fromEntries(labels.map((label, index) => [label, scores[index]!]));
  return { confidence: scores[best]!, classification: labels[best]!, classificationScores };
}

interface LabelledWord {
  readonly key: string;
  readonly begins: boolean;
  readonly word: OcrBox;
  readonly confidence: number;
}

/** The label of each word by its first token; `O` and words that were cut off are left out. */
function labelWords(
  logits: Float32Array,
  labels: readonly string[],
  { wordOf }: TokenWords,
  words: readonly OcrBox[],
): (LabelledWord | undefined)[] {
  const seen = new Map<number, LabelledWord | undefined>();
  for (const [at, word] of wordOf.entries()) {
    if (word < 0 || seen.has(word)) continue;
    const scores = softmax(logits.slice(at * labels.length, (at + 1) * labels.length));
    const best = highestAt(scores);
    const [, prefix, key] = /^(?:([BIES])-)?(.*)$/.exec(labels[best]!)!;
    seen.set(
      word,
      key === 'O' || key === undefined ? undefined : { key, begins: prefix === 'B', word: words[word]!, confidence: scores[best]! },
    );
  }
  return [...seen.keys()].sort((a, b) => a - b).map((word) => seen.get(word));
}

/** Neighbouring words with the same label as one field; its confidence is their mean. */
export function fieldsOf(logits: Float32Array, labels: readonly string[], laid: TokenWords, words: readonly OcrBox[]): DocumentAnswer {
  const groups: LabelledWord[][] = [];
  let before: LabelledWord | undefined;
  for (const one of labelWords(logits, labels, laid, words)) {
    if (one && before && one.key === before.key && !one.begins) groups.at(-1)!.push(one);
    else if (one) groups.push([one]);
    before = one;
  }
  const fields = groups.map((group): DocumentField => {
    const boxes = group.map(({ word }) => word);
    const edge = (of: (box: OcrBox) => number, most: typeof Math.max): number => most(...boxes.map(of));
    return {
      key: group[0]!.key,
      value: boxes.map(({ text }) => text).join(' '),
      confidence: group.reduce((sum, { confidence }) => sum + confidence, 0) / group.length,
      bbox: [edge((b) => b.x1, Math.min), edge((b) => b.y1, Math.min), edge((b) => b.x2, Math.max), edge((b) => b.y2, Math.max)],
    };
  });
  const confidence = fields.length === 0 ? 0 : fields.reduce((sum, field) => sum + field.confidence, 0) / fields.length;
  return { confidence, text: words.map(({ text }) => text).join(' '), fields };
}

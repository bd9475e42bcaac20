import { Failure } from '../../../schemas/errors.js';
import type { Pixels } from '../../pictures/picture.js';
import type { DocumentAnswer, DocumentField, DocumentQuestion } from '../contracts/documents.js';
import { type ChosenToken, meanOf } from '../image-text/decoder.js';
import type { ImageWriter } from '../image-text/image-writer.js';

/** Classes are tags of their own, such as `<invoice/>`. */
const CLASS_TAG = /^<(?!sep\/>)([^<>/]{1,100})\/>$/;

/** Asks a model that writes tagged text about an image. Throws `bad_request` for a prompt that is too long. */
export async function askDonut(
  writer: ImageWriter,
  model: string,
  pixels: Pixels,
  { task, prompt }: Pick<DocumentQuestion, 'task' | 'prompt'>,
  signal: AbortSignal,
): Promise<DocumentAnswer> {
  const start = startText(model, prompt);
  const classes = task === 'classification' ? writer.tokens.tags(CLASS_TAG) : [];
  const chosen = await writer.write(
    pixels,
    startIds(writer, start),
    signal,
    classes.map(({ id }) => id),
  );
  const written = writtenBy(writer, start, chosen);
  const confidence = meanOf(chosen);
  const text = written.text.slice(start.length).trim();
  const fields = taggedValues(withoutTask(written.text)).filter(({ end }) => end > start.length);
  if (task === 'vqa') return answerFrom(written, fields, text, confidence);
  if (task === 'classification') return classFrom(written, fields, classes, text, confidence);
  return { confidence, text, fields: fields.map((field) => fieldOf(field, written)) };
}

/** Words of a model's name that tell what it was trained to begin with. */
const STARTS: readonly [word: RegExp, start: string][] = [
  [/cord/i, '<s_cord-v2>'],
  [/rvlcdip/i, '<s_rvlcdip>'],
  [/zhtrainticket/i, '<s_zhtrainticket>'],
  [/synthdog/i, '<s_synthdog>'],
];

/** What the decoder is begun with. */
export function startText(model: string, prompt: string | null): string {
  if (/docvqa/i.test(model)) return `<s_docvqa><s_question>${prompt ?? ''}</s_question><s_answer>`;
  return STARTS.find(([word]) => word.test(model))?.[1] ?? prompt ?? '<s>';
}

/** The tokens of what the decoder is begun with. Throws `bad_request` where they leave no position for an answer. */
function startIds({ tokens, settings }: ImageWriter, start: string): number[] {
  const ids = tokens.ids(start);
  if (ids.length < settings.maxLength) return ids;
  throw new Failure(
    'bad_request',
    `The prompt takes ${ids.length} tokens, and the model has ${settings.maxLength} positions for it and its answer. Make the prompt shorter.`,
    { code: 'PromptTooLong' },
  );
}

/** A text that was written token by token, and where each token ends in it. */
interface Written {
  /** What the decoder was begun with comes first. */
  readonly text: string;
  readonly begin: number;
  readonly ends: readonly number[];
  readonly chosen: readonly ChosenToken[];
}

function writtenBy({ tokens, settings }: ImageWriter, start: string, chosen: readonly ChosenToken[]): Written {
  const kept = chosen.filter(({ id }) => id !== settings.padId);
  const ids = kept.map(({ id }) => id);
  // The end of a token is known only from the whole text up to it: spaces between tokens depend on both.
  const ends = ids.map((_, index) => start.length + tokens.text(ids.slice(0, index + 1)).length);
  return { text: start + tokens.text(ids), begin: start.length, ends, chosen: kept };
}

/** A value between tags, and where it stands in the text. */
interface TaggedValue {
  /** Tags on the way to it, such as `menu[1].price`. */
  readonly key: string;
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

interface OpenTag {
  readonly name: string;
  /** Of the entries that `<sep/>` divides. */
  readonly entry: number;
  /** Where the text after the last tag begins. */
  readonly textStart: number;
  hasInner: boolean;
}

const TAG = /<(\/?)s_([^<>]{1,200})>|<sep\/>/g;
const DEPTH_LIMIT = 16;

/**
 * The values that a document model writes as `<s_key>value</s_key>`. Groups give their values with the path to them; what `<sep/>` divides is
 * numbered from its second entry on. A tag that is not closed ends with the group around it.
 */
export function taggedValues(text: string): TaggedValue[] {
  const found: TaggedValue[] = [];
  const stack: OpenTag[] = [];
  const take = (end: number): void => {
    const open = stack.at(-1);
    if (!open || open.hasInner) return;
    const raw = text.slice(open.textStart, end);
    const value = raw.trim();
    if (value === '') return;
    const start = open.textStart + raw.indexOf(value);
    const key = stack.map(({ name, entry }) => (entry > 0 ? `${name}[${entry}]` : name)).join('.');
    found.push({ key, value, start, end: start + value.length });
  };
  for (const match of text.matchAll(TAG)) {
    const [tag, closing, name] = match;
    const after = match.index + tag.length;
    if (name === undefined) {
      take(match.index);
      const open = stack.pop();
      if (open) stack.push({ name: open.name, entry: open.entry + 1, textStart: after, hasInner: false });
    } else if (closing === '') {
      const outer = stack.at(-1);
      if (outer) outer.hasInner = true;
      if (stack.length < DEPTH_LIMIT) stack.push({ name, entry: 0, textStart: after, hasInner: false });
    } else {
      const at = stack.findLastIndex((open) => open.name === name);
      if (at < 0) continue;
      take(match.index);
      stack.length = at;
    }
  }
  take(text.length);
  return found;
}

/** The tag that names the task is never closed and holds no value; places in the text stay as they are. */
function withoutTask(text: string): string {
  return text.replace(/^<s_[^<>]{1,200}>/, (tag) => ' '.repeat(tag.length));
}

function answerFrom(written: Written, fields: readonly TaggedValue[], text: string, confidence: number): DocumentAnswer {
  const field = fields.find(({ key }) => key === 'answer' || key.endsWith('.answer'));
  if (field) return { confidence: confidenceOf(field, written), answer: field.value, text };
  return { confidence, answer: text.replace(/<[^<>]*>/g, ' ').trim(), text };
}

/** The mean probability of the tokens that a stretch of the text was made of. */
function confidenceOf({ start, end }: Pick<TaggedValue, 'start' | 'end'>, { begin, ends, chosen }: Written): number {
  return meanOf(chosen.filter((_, index) => ends[index]! > start && (ends[index - 1] ?? begin) < end));
}

function classFrom(
  written: Written,
  fields: readonly TaggedValue[],
  classes: readonly { id: number; text: string }[],
  text: string,
  confidence: number,
): DocumentAnswer {
  const named = (tag: string): string => CLASS_TAG.exec(tag)?.[1] ?? tag;
  const step = written.chosen.find(({ id }) => classes.some((one) => one.id === id));
  if (!step) {
    const field = fields.find(({ key }) => key === 'class' || key.endsWith('.class')) ?? fields[0];
    const label = field ? named(field.value) : text;
    if (label === '') return { confidence };
    return { confidence, classification: label, classificationScores: { [label]: confidence } };
  }
  const label = named(classes.find(({ id }) => id === step.id)!.text);
  const scores = Object.fromEntries(classes.map((one, index) => [named(one.text), step.watched[index]!]));
  return { confidence: step.probability, classification: label, classificationScores: scores };
}

function fieldOf(field: TaggedValue, written: Written): DocumentField {
  return { key: field.key, value: field.value, confidence: confidenceOf(field, written), bbox: null };
}

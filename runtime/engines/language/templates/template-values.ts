/** A value of a running template. */
export interface TemplateValue {
  /** `StringValue`, `ArrayValue` and their like. */
  readonly type: string;
  readonly value: unknown;
  readonly builtins: ReadonlyMap<string, TemplateValue>;
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
/** What Python's `repr` does not write as it is: controls, unassigned code points, spaces but the usual one, and the backslash. */
const UNPRINTABLE = /\\|(?! )[\p{C}\p{Z}]/gu;

/** A value as Python's `str` writes it; nothing for an undefined one. */
export function pythonText(value: TemplateValue): string {
  switch (value.type) {
    case 'UndefinedValue':
      return '';
    case 'NullValue':
      return 'None';
    case 'BooleanValue':
      return value.value === true ? 'True' : 'False';
    case 'ArrayValue':
      return `[${(value.value as TemplateValue[]).map(quotedText).join(', ')}]`;
    case 'TupleValue':
      return `(${(value.value as TemplateValue[]).map(quotedText).join(', ')})`;
    case 'ObjectValue':
      return `{${[...(value.value as Map<string, TemplateValue>)].map(([key, one]) => `${pythonString(key)}: ${quotedText(one)}`).join(', ')}}`;
    default:
      return String(value);
  }
}

/** Texts inside of lists and objects stand in quotes. */
const quotedText = (value: TemplateValue): string => (value.type === 'StringValue' ? pythonString(String(value.value)) : pythonText(value));

function pythonString(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replace(UNPRINTABLE, escapeOf);
  return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote;
}

function escapeOf(letter: string): string {
  const code = letter.codePointAt(0)!;
  const digits = code.toString(16);
  if (code < 0x100) return ESCAPES[letter] ?? `\\x${digits.padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`;
}

/** Characters of what a template writes, and of each text that it makes on the way. */
export const TEXT_LIMIT = 16 * 1024 * 1024;
/** Items of each list that a template makes. */
const ITEM_LIMIT = 1024 * 1024;
/** Spaces by which lines are indented, and characters of separators in JSON. */
const WIDTH_LIMIT = 100;
const DEFAULT_INDENT = 4;

/** A template made more than the limits allow. */
export class TooLarge extends Error {}

function checkSize(size: number, limit: number, what: 'a text' | 'a list'): void {
  if (size > limit) throw new TooLarge(`it makes ${what} of more than ${limit} ${what === 'a text' ? 'characters' : 'items'}`);
}

/** Gives a value back whose size is within the limits; throws for any other. */
export function checkedValue(value: TemplateValue): TemplateValue {
  if (typeof value.value === 'string') checkSize(value.value.length, TEXT_LIMIT, 'a text');
  else if (Array.isArray(value.value)) checkSize(value.value.length, ITEM_LIMIT, 'a list');
  return value;
}

/** Throws for a list or an object that holds more values at all depths than a list may have items: few values of which each holds the one before twice are many. */
export function checkDepths(value: TemplateValue): void {
  let count = 0;
  const waiting = [value];
  for (let one = waiting.pop(); one; one = waiting.pop()) {
    const inner = Array.isArray(one.value) ? (one.value as TemplateValue[]) : one.value instanceof Map ? [...one.value.values()] : [];
    count += inner.length;
    checkSize(count, ITEM_LIMIT, 'a list');
    for (const item of inner) if (typeof item?.value === 'object') waiting.push(item);
  }
}

/** How often `part` stands in `text`, as Python's `count` counts. */
function occurrences(text: string, part: string): number {
  if (part === '') return text.length + 1;
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count += 1;
  return count;
}

const isText = (value: TemplateValue): boolean => value.type === 'StringValue';
const textOf = (value: TemplateValue | undefined): string => (typeof value?.value === 'string' ? value.value : '');

/**
 * Throws where a filter or method of this name would make a text or a list beyond the limits; it is asked before, because one step can make a text of 16 MB into
 * one of gigabytes. `given` are its arguments, those by name too.
 */
export function checkGrowth(name: string, operand: TemplateValue, given: readonly TemplateValue[]): void {
  const text = textOf(operand);
  const texts = given.filter(isText).map(textOf);
  const width = (given.find(({ type }) => type === 'IntegerValue')?.value as number | undefined) ?? DEFAULT_INDENT;
  switch (name) {
    case 'replace': {
      const [old = '', fresh = ''] = texts;
      if (fresh.length > old.length) checkSize(text.length + occurrences(text, old) * (fresh.length - old.length), TEXT_LIMIT, 'a text');
      return;
    }
    case 'split':
      checkSize(texts[0] ? occurrences(text, texts[0]) : text.length / 2, ITEM_LIMIT, 'a list');
      return;
    case 'join': {
      const items = Array.isArray(operand.value) ? (operand.value as TemplateValue[]) : undefined;
      const count = items?.length ?? text.length;
      checkSize(count, ITEM_LIMIT, 'a list');
      const own = items?.reduce((sum, item) => sum + textOf(item).length, 0) ?? text.length;
      checkSize(own + count * (texts[0]?.length ?? 0), TEXT_LIMIT, 'a text');
      return;
    }
    case 'indent':
      checkSize(text.length + occurrences(text, '\n') * Math.min(width, TEXT_LIMIT) + width, TEXT_LIMIT, 'a text');
      return;
    case 'tojson': {
      checkDepths(operand);
      const separators = given.flatMap(({ value }) => (Array.isArray(value) ? (value as TemplateValue[]).map(textOf) : []));
      if (Math.max(width, ...separators.slice(0, 2).map(({ length }) => length)) > WIDTH_LIMIT)
        throw new TooLarge(`it spaces JSON by more than ${WIDTH_LIMIT} characters`);
    }
  }
}

/** The names that `checkGrowth` knows. */
export const GROWING: ReadonlySet<unknown> = new Set(['replace', 'split', 'join', 'indent', 'tojson']);

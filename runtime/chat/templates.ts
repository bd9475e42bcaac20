import { Failure } from '../../schemas/errors.js';

/** Longest text of one variable, in characters, after conversion. */
const MAX_VALUE_CHARACTERS = 100_000;
/** Variable names that an error message lists. */
const MAX_LISTED = 50;

/** Longest text that variables may make, in characters. */
const MAX_TEXT_CHARACTERS = 16 * 1024 * 1024;

/** `{{name`, and what ends it or begins its default. */
const OPENING = /\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*(\}\}|\|)/g;

/** Values of template variables, as the request gives them. */
export type Variables = Readonly<Record<string, unknown>>;

/**
 * Replaces `{{name}}` and `{{name | default}}` in a text, in one pass: what is put in is not looked through again. Braces around anything
 * else stay as they are. Throws `bad_request` (TemplateResolutionFailed) for a variable without value and default, and for a value that
 * is an array, an object or too long, alone or with the others. Where values are not required,
 * a variable without value and default stays as it is written. Takes time in proportion to the text.
 */
export function resolveText(text: string, variables: Variables, areRequired = true): string {
  let out = '';
  let copied = 0;
  for (const { name, defaultText, start, end } of variablesOf(text)) {
    const isLeft = !areRequired && defaultText === undefined && !hasValue(name, variables);
    out += text.slice(copied, start) + (isLeft ? text.slice(start, end) : insertedText(name, defaultText, variables));
    if (out.length > MAX_TEXT_CHARACTERS) throw resolutionFailure(`the text would have more than ${MAX_TEXT_CHARACTERS} characters.`);
    copied = end;
  }
  return copied === 0 ? text : out + text.slice(copied);
}

/** A variable in a text: `{{name}}` or `{{name | default}}`, with its offsets. */
interface Variable {
  readonly name: string;
  readonly defaultText: string | undefined;
  readonly start: number;
  readonly end: number;
}

/** The variables of a text, in order. Takes time in proportion to the text. */
export function* variablesOf(text: string): Generator<Variable, void, undefined> {
  let from = 0;
  let brace = 0;
  for (;;) {
    OPENING.lastIndex = from;
    const found = OPENING.exec(text);
    if (!found) return;
    const [whole, name = '', sign] = found;
    const start = found.index;
    const opened = start + whole.length;
    let close = opened - 2;
    let defaultText: string | undefined;
    if (sign === '|') {
      // The same brace may end the search of many openings; looking for it once keeps the whole linear.
      if (brace < opened) brace = text.indexOf('}', opened);
      if (brace < 0) return;
      close = brace;
      defaultText = text.slice(opened, close).trim();
    }
    const isVariable = text.startsWith('}}', close);
    from = isVariable ? close + 2 : start + 1;
    if (isVariable) yield { name, defaultText, start, end: from };
  }
}

/** Replaces variables in every text below a value, at any depth; keys, numbers and everything else stay. The input is not changed. */
export function resolveDeep<T>(value: T, variables: Variables, areRequired = true): T {
  if (typeof value === 'string') return resolveText(value, variables, areRequired) as T;
  if (Array.isArray(value)) return value.map((item) => resolveDeep(item, variables, areRequired)) as T;
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, resolveDeep(member, variables, areRequired)])) as T;
}

const hasValue = (name: string, variables: Variables): boolean => Object.hasOwn(variables, name) && variables[name] !== undefined;

function insertedText(name: string, defaultText: string | undefined, variables: Variables): string {
  if (!hasValue(name, variables)) {
    if (defaultText !== undefined) return defaultText;
    throw missingVariable(name, variables);
  }
  const text = textOf(name, variables[name]);
  if (text.length > MAX_VALUE_CHARACTERS) {
    throw resolutionFailure(
      `the value of {{${name}}} has ${text.length} characters, which exceeds maximum length ${MAX_VALUE_CHARACTERS}.`,
    );
  }
  return text;
}

function textOf(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (value === null) return '';
  const type = Array.isArray(value) ? 'array (list)' : 'object (dict)';
  throw resolutionFailure(`the value of {{${name}}} has the unsupported type ${type}; give a string, number, boolean or null.`);
}

function missingVariable(name: string, variables: Variables): Failure {
  const names = Object.keys(variables);
  const listed = names.slice(0, MAX_LISTED).map((one) => (one.length > 100 ? `${one.slice(0, 99)}…` : one));
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : '';
  const available = names.length === 0 ? 'No variables are available' : `Available variables: ${listed.join(', ')}${more}`;
  return resolutionFailure(
    `the variable {{${name}}} has no value. ${available}. Add "${name}" to variables, or give a default: {{${name} | default text}}.`,
  );
}

function resolutionFailure(reason: string): Failure {
  return new Failure('bad_request', `Template resolution failed: ${reason}`, { code: 'TemplateResolutionFailed' });
}

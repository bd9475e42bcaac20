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
  let brace = 0;
  OPENING.lastIndex = 0;
  for (let found = OPENING.exec(text); found; found = OPENING.exec(text)) {
    const [whole, name = '', sign] = found;
    const end = found.index + whole.length;
    let close = end - 2;
    let defaultText: string | undefined;
    if (sign === '|') {
      // The same brace may end the search of many openings; looking for it once keeps the whole linear.
      if (brace < end) brace = text.indexOf('}', end);
      if (brace < 0) break;
      close = brace;
      defaultText = text.slice(end, close).trim();
    }
    if (text.startsWith('}}', close)) {
      const isLeft = !areRequired && defaultText === undefined && !hasValue(name, variables);
      out += text.slice(copied, found.index) + (isLeft ? text.slice(found.index, close + 2) : insertedText(name, defaultText, variables));
      if (out.length > MAX_TEXT_CHARACTERS) throw failed(`the text would have more than ${MAX_TEXT_CHARACTERS} characters.`);
      copied = close + 2;
      OPENING.lastIndex = copied;
    } else {
      OPENING.lastIndex = found.index + 1;
    }
  }
  return copied === 0 ? text : out + text.slice(copied);
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
    throw missing(name, variables);
  }
  const text = textOf(name, variables[name]);
  if (text.length > MAX_VALUE_CHARACTERS) {
    throw failed(`the value of {{${name}}} has ${text.length} characters, which exceeds maximum length ${MAX_VALUE_CHARACTERS}.`);
  }
  return text;
}

function textOf(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (value === null) return '';
  const type = Array.isArray(value) ? 'array (list)' : 'object (dict)';
  throw failed(`the value of {{${name}}} has the unsupported type ${type}; give a string, number, boolean or null.`);
}

function missing(name: string, variables: Variables): Failure {
  const names = Object.keys(variables);
  const listed = names.slice(0, MAX_LISTED).map((one) => (one.length > 100 ? `${one.slice(0, 99)}…` : one));
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : '';
  const available = names.length === 0 ? 'No variables are available' : `Available variables: ${listed.join(', ')}${more}`;
  return failed(
    `the variable {{${name}}} has no value. ${available}. Add "${name}" to variables, or give a default: {{${name} | default text}}.`,
  );
}

function failed(reason: string): Failure {
  return new Failure('bad_request', `Template resolution failed: ${reason}`, { code: 'TemplateResolutionFailed' });
}

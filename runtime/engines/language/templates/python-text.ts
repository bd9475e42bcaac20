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
      return `[${(value.value as TemplateValue[]).map(inside).join(', ')}]`;
    case 'TupleValue':
      return `(${(value.value as TemplateValue[]).map(inside).join(', ')})`;
    case 'ObjectValue':
      return `{${[...(value.value as Map<string, TemplateValue>)].map(([key, one]) => `${quoted(key)}: ${inside(one)}`).join(', ')}}`;
    default:
      return String(value);
  }
}

/** Texts inside of lists and objects stand in quotes. */
const inside = (value: TemplateValue): string => (value.type === 'StringValue' ? quoted(String(value.value)) : pythonText(value));

function quoted(text: string): string {
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

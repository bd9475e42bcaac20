import { Environment, Interpreter } from '@huggingface/jinja';
import { pythonText, type TemplateValue } from './python-text.js';

/** The members of a template's nodes that are looked at here; most nodes have few of them. */
interface Node {
  readonly type: string;
  readonly value: unknown;
  readonly operand: Node;
  readonly filter: Node;
  readonly callee: Node;
  readonly object: Node;
  readonly property: Node;
  readonly computed: boolean;
  readonly left: Node;
  readonly right: Node;
  readonly operator: Node;
}

/** Names and values; of the package, whose own declarations of it cannot be read. */
type Scope = object;

const Base = Interpreter as new (
  scope: Scope,
) => {
  run(program: unknown): TemplateValue;
  evaluate(node: Node | undefined, scope: Scope): TemplateValue;
};

/** Filters that take anything as its text. */
const OF_TEXT: ReadonlySet<unknown> = new Set(['string', 'upper', 'lower', 'trim', 'capitalize', 'title', 'replace']);
/** Filters that choose of a list: whether `one` goes before `other`. */
const CHOOSING: Readonly<Record<string, (one: number | string, other: number | string) => boolean>> = {
  min: (one, other) => one < other,
  max: (one, other) => one > other,
};
/** Methods of objects, which come before an object's own members of these names. */
const OF_OBJECTS: ReadonlySet<string> = new Set(['items', 'keys', 'values', 'get']);
/** What Python's `strip` takes for space. */
const SPACE = /\p{White_Space}/u;
const SEPARATORS = String.fromCharCode(0x1c, 0x1d, 0x1e, 0x1f);
/** Characters of what a template writes, and of each text that it makes by `~`. */
export const TEXT_LIMIT = 16 * 1024 * 1024;
/** Methods of texts, whose arguments the package leaves out; `isOut` is asked of code points. */
const OF_TEXTS: Readonly<Record<string, (text: string, isOut: (letter: string) => boolean) => string>> = {
  strip: (text, isOut) => begun(ended(text, isOut), isOut),
  lstrip: begun,
  rstrip: ended,
};
/** Statements that are written by their own rules, unlike the values of expressions. */
const STATEMENTS: ReadonlySet<string> = new Set(
  ['If', 'For', 'Break', 'Continue', 'Set', 'Macro', 'Comment', 'CallStatement', 'FilterStatement'], // biome-ignore format: a list
);
const BODIES = ['body', 'alternate', 'defaultBlock'] as const;

/** Of code units; a code point beyond has two. */
const LARGEST_UNIT = 0xffff;

function begun(text: string, isOut: (letter: string) => boolean): string {
  let at = 0;
  for (const letter of text) {
    if (!isOut(letter)) break;
    at += letter.length;
  }
  return text.slice(at);
}

function ended(text: string, isOut: (letter: string) => boolean): string {
  let length = text.length;
  while (length > 0) {
    const size = length > 1 && text.codePointAt(length - 2)! > LARGEST_UNIT ? 2 : 1;
    if (!isOut(text.slice(length - size, length))) break;
    length -= size;
  }
  return text.slice(0, length);
}

const node = (members: Partial<Node>): Node => members as Node;
const asValue = (value: unknown): TemplateValue => new Environment().set('value', value) as TemplateValue;
const known = (value: TemplateValue): Node => node({ type: 'Known', value });

/** The package looks for names in nodes of its own class only. */
const beside = (other: Node, members: Partial<Node>): Node => Object.assign(Object.create(Object.getPrototypeOf(other)), members) as Node;

/** Marks in a parsed template what is run here: the expressions whose values it writes, and the bodies of loops. */
export function markWritten(parent: unknown): void {
  for (const name of BODIES) {
    const body = (parent as Record<string, unknown>)[name];
    if (!Array.isArray(body)) continue;
    for (const [at, one] of (body as Node[]).entries()) {
      if (STATEMENTS.has(one.type)) markWritten(one);
      else body[at] = beside(one, { type: 'Written', operand: one });
    }
    // What is set in a round is unknown in the next.
    const loop = parent as Node;
    if (name === 'body' && loop.type === 'For') body.splice(0, body.length, beside(loop, { type: 'Round', value: [...body] }));
  }
}

/** Runs templates as Python's Jinja does where the package's own interpreter fails, or writes another text. Templates are to be marked. */
export class PythonInterpreter extends Base {
  override evaluate(one: Node | undefined, scope: Scope): TemplateValue {
    switch (one?.type) {
      case 'Known':
        return one.value as TemplateValue;
      case 'Written': {
        const value = this.evaluate(one.operand, scope);
        return value.type === 'StringValue' ? value : asValue(pythonText(value));
      }
      case 'Round':
        return super.evaluate({ type: 'Program', body: one.value } as unknown as Node, new Environment(scope));
      case 'FilterExpression':
        return this.#filtered(one, scope);
      case 'CallExpression':
        return this.#called(one, scope);
      case 'BinaryExpression':
        if (one.operator.value === '~') return this.#concatenated(one, scope);
    }
    return super.evaluate(one, scope);
  }

  #concatenated({ left, right }: Node, scope: Scope): TemplateValue {
    const text = `${this.#text(left, scope).value}${this.#text(right, scope).value}`;
    if (text.length > TEXT_LIMIT) throw new Error(`it makes a text of more than ${TEXT_LIMIT} characters`);
    return asValue(text);
  }

  #text(one: Node, scope: Scope): TemplateValue {
    const value = this.evaluate(one, scope);
    return value.type === 'StringValue' ? value : asValue(pythonText(value));
  }

  #filtered({ type, operand, filter }: Node, scope: Scope): TemplateValue {
    const name = filter.type === 'Identifier' ? filter.value : filter.callee.value;
    if (OF_TEXT.has(name)) return super.evaluate(node({ type, operand: known(this.#text(operand, scope)), filter }), scope);
    const value = this.evaluate(operand, scope);
    if (filter.type === 'Identifier' && Object.hasOwn(CHOOSING, String(name)) && isOfOneKind(value)) {
      const goesBefore = CHOOSING[String(name)]!;
      return value.value.reduce(
        (best, item) => (goesBefore(orderOf(item), orderOf(best)) ? item : best),
        value.value[0] ?? asValue(undefined),
      );
    }
    return super.evaluate(node({ type, operand: known(value), filter }), scope);
  }

  #called(call: Node, scope: Scope): TemplateValue {
    const { callee } = call;
    const name = callee.type === 'MemberExpression' && !callee.computed ? String(callee.property.value) : '';
    if (!OF_OBJECTS.has(name) && !Object.hasOwn(OF_TEXTS, name)) return super.evaluate(call, scope);
    const object = this.evaluate(callee.object, scope);
    const method = methodOf(object, name);
    return super.evaluate({ ...call, callee: method ? known(method) : { ...callee, object: known(object) } }, scope);
  }
}

/** A list of numbers, or of texts. */
const isOfOneKind = (list: TemplateValue): list is TemplateValue & { value: TemplateValue[] } =>
  Array.isArray(list.value) &&
  ['number', 'string'].some((type) => (list.value as TemplateValue[]).every(({ value }) => typeof value === type));

/** What an item is compared by; the case of letters does not count. */
const orderOf = ({ value }: TemplateValue): number | string => (typeof value === 'string' ? value.toLowerCase() : (value as number));

function methodOf(object: TemplateValue, name: string): TemplateValue | undefined {
  if (object.type === 'ObjectValue' && OF_OBJECTS.has(name)) return object.builtins.get(name);
  const strip = Object.hasOwn(OF_TEXTS, name) ? OF_TEXTS[name] : undefined;
  if (object.type !== 'StringValue' || !strip) return undefined;
  return asValue((out?: unknown) => {
    const letters = typeof out === 'string' ? new Set(out) : undefined;
    return strip(String(object.value), (letter) => (letters ? letters.has(letter) : SPACE.test(letter) || SEPARATORS.includes(letter)));
  });
}

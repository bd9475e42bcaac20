import { Environment, Interpreter } from '@huggingface/jinja';
import {
  checkDepths,
  checkedValue,
  checkGrowth,
  GROWING,
  pythonText,
  TEXT_LIMIT,
  type TemplateValue,
  TooLarge,
} from './template-values.js';

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
  readonly args: readonly Node[];
  readonly argument: Node;
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
/** Methods of texts, whose arguments the package leaves out; `isOut` is asked of code points. */
const OF_TEXTS: Readonly<Record<string, (text: string, isOut: (letter: string) => boolean) => string>> = {
  strip: (text, isOut) => begun(ended(text, isOut), isOut),
  lstrip: begun,
  rstrip: ended,
};
/** Statements that are written by their own rules, unlike the values of expressions. */
const STATEMENTS: ReadonlySet<string> = new Set([
  'If',
  'For',
  'Break',
  'Continue',
  'Set',
  'Macro',
  'Comment',
  'CallStatement',
  'FilterStatement',
]);
/** Expressions and statements that are run in one go; ten thousand messages take about half a million. */
const STEP_LIMIT = 2_000_000;
/** Characters of all that filters and calls make in one go: a conversation of 4 MB may go through eight of them. */
const MADE_LIMIT = 2 * TEXT_LIMIT;
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
  #steps = 0;
  #made = 0;

  override evaluate(one: Node | undefined, scope: Scope): TemplateValue {
    this.#steps += 1;
    if (this.#steps > STEP_LIMIT) throw new TooLarge(`it takes more than ${STEP_LIMIT} steps`);
    switch (one?.type) {
      case 'Known':
        return one.value as TemplateValue;
      case 'Written':
        return checkedValue(this.#text(one.operand, scope));
      case 'Round':
        return super.evaluate({ type: 'Program', body: one.value } as unknown as Node, new Environment(scope));
      case 'FilterExpression':
        return this.#weighed(this.#filtered(one, scope));
      case 'CallExpression':
        return this.#weighed(this.#called(one, scope));
      case 'BinaryExpression':
        return checkedValue(one.operator.value === '~' ? this.#concatenated(one, scope) : super.evaluate(one, scope));
    }
    return super.evaluate(one, scope);
  }

  #weighed(value: TemplateValue): TemplateValue {
    if (typeof value.value === 'string') this.#made += value.value.length;
    if (this.#made > MADE_LIMIT) throw new TooLarge(`its filters and calls make more than ${MADE_LIMIT} characters`);
    return checkedValue(value);
  }

  #concatenated({ left, right }: Node, scope: Scope): TemplateValue {
    return asValue(`${this.#text(left, scope).value}${this.#text(right, scope).value}`);
  }

  #text(one: Node, scope: Scope): TemplateValue {
    const value = this.evaluate(one, scope);
    if (value.type === 'StringValue') return value;
    checkDepths(value);
    return asValue(pythonText(value));
  }

  #filtered({ type, operand, filter }: Node, scope: Scope): TemplateValue {
    const name = filter.type === 'Identifier' ? filter.value : filter.callee.value;
    const value = OF_TEXT.has(name) ? this.#text(operand, scope) : this.evaluate(operand, scope);
    if (GROWING.has(name)) {
      const { call, given } = this.#withArguments(filter, scope);
      checkGrowth(String(name), value, given);
      const replaced = name === 'replace' ? replacedText(value, given) : undefined;
      if (replaced) return replaced;
      return super.evaluate(node({ type, operand: known(value), filter: call }), scope);
    }
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
    const isGrowing = GROWING.has(name);
    if (!OF_OBJECTS.has(name) && !Object.hasOwn(OF_TEXTS, name) && !isGrowing) return super.evaluate(call, scope);
    const object = this.evaluate(callee.object, scope);
    if (isGrowing) {
      const ready = this.#withArguments(call, scope);
      checkGrowth(name, object, ready.given);
      const replaced = name === 'replace' ? replacedText(object, ready.given) : undefined;
      if (replaced) return replaced;
      return super.evaluate(beside(call, { ...ready.call, callee: beside(callee, { ...callee, object: known(object) }) }), scope);
    }
    const method = methodOf(object, name);
    return super.evaluate({ ...call, callee: method ? known(method) : { ...callee, object: known(object) } }, scope);
  }

  /** A call, or a filter that may have no arguments, with its arguments evaluated; `given` are their values. */
  #withArguments(one: Node, scope: Scope): { readonly call: Node; readonly given: readonly TemplateValue[] } {
    const given: TemplateValue[] = [];
    const kept = (value: TemplateValue): Node => {
      given.push(value);
      return known(value);
    };
    const args = (one.args ?? []).flatMap((argument) => {
      if (argument.type === 'KeywordArgumentExpression') return { ...argument, value: kept(this.evaluate(argument.value as Node, scope)) };
      if (argument.type !== 'SpreadExpression' && argument.type !== 'KeywordSpreadExpression') return kept(this.evaluate(argument, scope));
      const value = this.evaluate(argument.argument, scope);
      if (Array.isArray(value.value)) return (value.value as TemplateValue[]).map(kept);
      if (value.value instanceof Map) given.push(...(value.value as Map<string, TemplateValue>).values());
      return { ...argument, argument: known(value) };
    });
    return { call: one.type === 'Identifier' ? one : beside(one, { ...one, args }), given };
  }
}

/** A list of numbers, or of texts. */
const isOfOneKind = (list: TemplateValue): list is TemplateValue & { value: TemplateValue[] } =>
  Array.isArray(list.value) &&
  ['number', 'string'].some((type) => (list.value as TemplateValue[]).every(({ value }) => typeof value === type));

/** What an item is compared by; the case of letters does not count. */
const orderOf = ({ value }: TemplateValue): number | string => (typeof value === 'string' ? value.toLowerCase() : (value as number));

/** The package calls back for each place, which is a thousand times slower; undefined for what is left to it. */
function replacedText({ type, value }: TemplateValue, given: readonly TemplateValue[]): TemplateValue | undefined {
  const [old, fresh] = given;
  const areTexts = type === 'StringValue' && old?.type === 'StringValue' && fresh?.type === 'StringValue';
  return areTexts && given.length === 2 && old.value !== ''
    ? asValue(String(value).split(String(old.value)).join(String(fresh.value)))
    : undefined;
}

function methodOf(object: TemplateValue, name: string): TemplateValue | undefined {
  if (object.type === 'ObjectValue' && OF_OBJECTS.has(name)) return object.builtins.get(name);
  const strip = Object.hasOwn(OF_TEXTS, name) ? OF_TEXTS[name] : undefined;
  if (object.type !== 'StringValue' || !strip) return undefined;
  return asValue((out?: unknown) => {
    const letters = typeof out === 'string' ? new Set(out) : undefined;
    return strip(String(object.value), (letter) => (letters ? letters.has(letter) : SPACE.test(letter) || SEPARATORS.includes(letter)));
  });
}

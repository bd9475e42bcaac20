import { Failure } from '../../schemas/errors.js';
import type { Tool } from '../../schemas/generated/common.js';
import { AnswerCheck, type HeldSchema } from './answer-check.js';
import { checkedGbnf, renameRoot } from './grammar/gbnf.js';
import { patternExpression, wholeText } from './grammar/pattern.js';
import { GrammarRules, literal, oneOf } from './grammar/rules.js';
import { schemaExpression } from './json-schema-grammar.js';
import { PatternError, parseRegex } from './regex/syntax.js';
import { anchored } from './schema/formats.js';
import { FORM_FIELDS, type FormFields } from './settings.js';
import type { ToolFormat } from './tools/formats.js';
import type { ToolOffer } from './tools/tool-choice.js';
import { smallerThan } from './work-limit.js';

/** The form of an answer. */
export type AnswerForm =
  | { readonly kind: 'text' }
  | { readonly kind: 'object' }
  | { readonly kind: 'schema'; readonly schema: unknown; readonly strict: boolean }
  | { readonly kind: 'grammar'; readonly grammar: string }
  | { readonly kind: 'regex'; readonly pattern: string }
  | { readonly kind: 'choice'; readonly texts: readonly string[] };

const TEXT: AnswerForm = { kind: 'text' };

/** The form that a request asks for. Throws `Failure('invalid')` for one that cannot be read, and where two are asked for. */
export function answerForm(fields: FormFields): AnswerForm {
  const format = responseForm(fields.response_format);
  const named = FORM_FIELDS.filter((name) => fields[name] !== undefined && fields[name] !== null);
  const given = [...(format.kind === 'text' ? [] : ['response_format']), ...named];
  if (given.length > 1) throw new Failure('invalid', `${given.join(' and ')} each say what form the answer has; send one of them.`);
  const [name] = named;
  return name === undefined ? format : fieldForm(name, fields);
}

function fieldForm(name: (typeof FORM_FIELDS)[number], fields: FormFields): AnswerForm {
  switch (name) {
    case 'grammar':
    case 'guided_grammar':
      return { kind: 'grammar', grammar: checkedGbnf(fields[name]!, name) };
    case 'json_schema':
    case 'guided_json':
      return { kind: 'schema', schema: schemaIn(fields[name]!, name), strict: false };
    case 'guided_regex':
      return { kind: 'regex', pattern: fields.guided_regex! };
    case 'guided_choice':
      return { kind: 'choice', texts: fields.guided_choice! };
  }
}

function schemaIn(given: Record<string, unknown> | string, name: string): unknown {
  if (typeof given !== 'string') return given;
  try {
    return JSON.parse(given);
  } catch (error) {
    throw new Failure('invalid', `${name} is a text that is no JSON (${(error as Error).message}); send a JSON Schema.`);
  }
}

function responseForm(format: Record<string, unknown> | null | undefined): AnswerForm {
  // Some clients send an empty object where they have nothing to say.
  if (format === undefined || format === null || Object.keys(format).length === 0) return TEXT;
  const { type } = format;
  if (type === 'text') return TEXT;
  const wrapped = type === 'json_schema' ? (format.json_schema as { schema?: unknown; strict?: unknown } | null | undefined) : undefined;
  // llama.cpp's clients put the schema beside the type.
  const schema = wrapped?.schema ?? format.schema;
  if ((type === 'json_schema' || type === 'json_object') && schema !== undefined && schema !== null)
    return { kind: 'schema', schema, strict: (wrapped?.strict ?? format.strict) === true };
  if (type === 'json_object') return { kind: 'object' };
  throw new Failure(
    'invalid',
    `response_format must be {"type": "text"}, {"type": "json_object"} or {"type": "json_schema", "json_schema": {"schema": …}}; its type is ${JSON.stringify(type)}.`,
  );
}

/** Most further calls that an answer held to them may have. */
const MAX_MORE_CALLS = 15;

/** Blank space after a thinking block, and at the end. */
const BLANK = '[ \\t\\n]{0,4}';

/** What an answer must look like. */
interface AnswerShape {
  offer: ToolOffer;
  format: ToolFormat;
  form: AnswerForm;
  /** False = one call only. */
  parallel: boolean;
  /** `open`: the prompt opened a thinking block; `possible`: the model may open one. */
  thinking: 'none' | 'possible' | 'open';
}

/** The text of an answer without calls, and what of its schema is not held. */
function formedAnswer(form: AnswerForm, rules: GrammarRules): { expression: string; held?: HeldSchema } {
  switch (form.kind) {
    case 'schema': {
      const { expression, left, ignored } = schemaExpression(form.schema, rules, { strict: form.strict });
      return { expression, held: { subject: 'The answer', schema: form.schema, strict: form.strict, left, ignored } };
    }
    case 'regex':
      return { expression: regexAnswer(form.pattern, rules) };
    case 'choice':
      return { expression: oneOf(form.texts.map(literal)) };
    default:
      return { expression: rules.base('object') };
  }
}

function regexAnswer(pattern: string, rules: GrammarRules): string {
  const refuse = (why: string) =>
    new Failure('invalid', `guided_regex is ${JSON.stringify(pattern.slice(0, 100))}, which ${why}; use a simpler regular expression.`, {
      code: 'unsupported_grammar',
    });
  try {
    const made = patternExpression(wholeText(parseRegex(anchored(pattern), rules.work)), rules, 'raw');
    if (made?.exact) return made.expression;
    throw refuse(made ? 'looks ahead, behind or at the bounds of words' : 'matches nothing');
  } catch (error) {
    throw error instanceof PatternError ? refuse(error.message) : error;
  }
}

/** Of a tool that names no parameters: its calls have none. */
const NO_PARAMETERS = { properties: {}, additionalProperties: false };

/** Turns the tools of an offer into the rules of their calls, and gathers what of their schemas is not held. */
class ToolWriter {
  readonly held = new Map<string, HeldSchema>();

  constructor(
    readonly rules: GrammarRules,
    readonly format: ToolFormat,
  ) {}

  /** A call whose arguments fit the tool's schema. Throws `Failure('invalid')` for a schema that cannot be used. */
  call(tool: Tool): string {
    const { name, parameters } = tool.function;
    const schema = { ...(parameters ?? NO_PARAMETERS), type: 'object' };
    const strict = tool.function.strict === true;
    const { expression, left, ignored } = schemaExpression(schema, this.rules, { strict, anyOrder: true, place: name });
    const held = { subject: `A call of ${name}`, schema, strict, left, ignored };
    if (left.length + ignored.length > 0) this.held.set(name, held);
    return this.#call(name, expression);
  }

  /** A call with any arguments where the tool's schema makes no grammar, or too large a one. */
  callIfUsable(tool: Tool): string {
    const { name, parameters } = tool.function;
    let reason = '';
    const call = this.rules.attempt(
      () => this.call(tool),
      (failure) => {
        reason = failure.message;
      },
    );
    if (call !== undefined) return call;
    const ignored = [`its schema, since it makes no grammar (${reason.replace(/\.$/, '')}),`];
    this.held.set(name, { subject: `A call of ${name}`, schema: parameters, strict: false, left: [], ignored });
    return this.#call(name, this.rules.base('object'));
  }

  #call(name: string, args: string): string {
    const head = `"{" ws ${literal('"name":')} ws ${literal(JSON.stringify(name))} "," ws ${literal(`"${this.format.argumentsKey}":`)} ws`;
    return this.rules.add(`tool-${name}`, `${head} ${args} ws "}"`);
  }
}

/** One call or several, each written by `write`; `opened` = what begins them was said already. */
function callsAnswer(shape: AnswerShape, rules: GrammarRules, write: (tool: Tool) => string, opened = false): string {
  const { offer, format } = shape;
  rules.base('ws');
  const call = rules.add('call', oneOf(offer.tools.map(write)));
  const single = offer.mode === 'named' || !shape.parallel;
  const more = (expression: string) => (single ? '' : ` ( ${expression} ){0,${MAX_MORE_CALLS}}`);
  const open = opened ? '' : `${literal(format.open)}?`;
  if (format.list) return `ws ${open} ws "[" ws ${call}${more(`"," ws ${call}`)} ws "]"`;
  if (format.close === '') return `ws ${open} ${call}${more(`${literal(format.separator)} ws ${call}`)}`;
  const closed = rules.add('closed-call', `ws ${call} ws ${literal(format.close)}`);
  const tagged = rules.add('tagged-call', `${literal(format.open)} ${closed}`);
  // A line that ends behind a call must not begin another one.
  return `ws ${opened ? closed : tagged}${more(`ws ${tagged}`)} ${BLANK}`;
}

/** What holds an answer to its form. */
interface AnswerGrammar {
  /** GBNF. */
  readonly grammar: string;
  /** Text after which it holds; absent = from the beginning. */
  readonly grammarStart?: string;
  /** What the finished answer is checked by; absent where the grammar holds everything. */
  readonly check?: AnswerCheck;
  /** GBNF of the answer alone, by which one that runs out of tokens is closed; absent where the answer is no JSON, or may be a call. */
  readonly answer?: string;
}

/** Grammars made lately, since clients send the same schema with each request; the oldest goes first. */
const recent = new Map<string, AnswerGrammar>();
const MAX_RECENT = 32;
/** Larger requests are not remembered, since the key alone would cost time and memory. */
const MAX_RECENT_NODES = 4_000;

/**
 * The grammar of an answer that must be JSON or a tool call, or of the calls that one may hold, behind the tag that begins them; undefined
 * where the answer is free. A thinking block may come first where the model can think. Throws `Failure('invalid')` for schemas that cannot
 * be used where an answer must follow them.
 */
export function answerGrammar(shape: AnswerShape): AnswerGrammar | undefined {
  const forced = shape.offer.mode !== 'auto';
  const free = !forced && shape.form.kind === 'text';
  if (free && shape.offer.tools.length === 0) return undefined;
  const named = [shape.offer, shape.format.name, shape.form, shape.parallel, shape.thinking];
  const key = smallerThan(named, MAX_RECENT_NODES) ? JSON.stringify(named) : undefined;
  const known = key === undefined ? undefined : recent.get(key);
  if (known !== undefined) return known;
  const grammar = free ? callGrammar(shape) : makeGrammar(shape, forced);
  if (key !== undefined) recent.set(key, grammar);
  if (recent.size > MAX_RECENT) recent.delete(recent.keys().next().value!);
  return grammar;
}

/** For calls in a free answer. A tool whose schema makes no grammar has any arguments. */
function callGrammar(shape: AnswerShape): AnswerGrammar {
  const rules = new GrammarRules();
  const tools = new ToolWriter(rules, shape.format);
  const calls = callsAnswer(shape, rules, (tool) => tools.callIfUsable(tool), true);
  return { grammar: rules.text(calls), grammarStart: shape.format.open, ...checkOf(undefined, tools) };
}

function checkOf(held: HeldSchema | undefined, tools: ToolWriter): { check?: AnswerCheck } {
  const answer = held && held.left.length + held.ignored.length > 0 ? held : undefined;
  return answer || tools.held.size > 0 ? { check: new AnswerCheck(answer, tools.held) } : {};
}

function makeGrammar(shape: AnswerShape, forced: boolean): AnswerGrammar {
  const rules = new GrammarRules();
  const tools = new ToolWriter(rules, shape.format);
  if (shape.form.kind === 'grammar' && !forced) return ownGrammar(shape.form.grammar, shape);
  const formed = forced ? undefined : formedAnswer(shape.form, rules);
  const alternatives = formed ? [formed.expression] : [];
  if (shape.offer.tools.length > 0) alternatives.push(callsAnswer(shape, rules, (tool) => tools.call(tool)));
  const answer = oneOf(alternatives);
  const isJson = formed !== undefined && (shape.form.kind === 'schema' || shape.form.kind === 'object') && shape.offer.tools.length === 0;
  return {
    grammar: rules.text(afterThinking(answer, shape.thinking)),
    ...checkOf(formed?.held, tools),
    ...(isJson ? { answer: rules.text(answer) } : {}),
  };
}

function afterThinking(answer: string, thinking: AnswerShape['thinking']): string {
  if (thinking === 'none') return answer;
  // The engine holds nothing between the tags against the grammar, the closing tag included.
  return thinking === 'open' ? `${BLANK} ${answer}` : `"<think>"? ${BLANK} ${answer}`;
}

/** A caller's grammar, its root behind a thought. */
function ownGrammar(grammar: string, { offer, thinking }: AnswerShape): AnswerGrammar {
  if (offer.tools.length > 0)
    throw new Failure('invalid', 'A grammar holds the whole answer; leave out tools, or send tool_choice "none".');
  if (thinking === 'none') return { grammar };
  return { grammar: `root ::= ${afterThinking('answer-root', thinking)}\n${renameRoot(grammar, 'answer-root')}` };
}

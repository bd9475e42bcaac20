import { Failure } from '../../schemas/errors.js';
import type { Tool } from '../../schemas/generated/common.js';
import { log } from '../log.js';
import { GrammarRules, literal, oneOf } from './grammar/rules.js';
import { schemaExpression } from './json-schema-grammar.js';
import type { ToolOffer } from './tools/definitions.js';
import type { ToolFormat } from './tools/formats.js';

/** Most further calls that an answer held to them may have. */
const MAX_MORE_CALLS = 15;

/** Blank space after a thinking block, and at the end. */
const BLANK = '[ \\t\\n]{0,4}';

/** What an answer must look like. */
interface AnswerShape {
  offer: ToolOffer;
  format: ToolFormat;
  responseFormat: Record<string, unknown> | undefined;
  /** False = one call only. */
  parallel: boolean;
  /** `open`: the prompt opened a thinking block; `possible`: the model may open one. */
  thinking: 'none' | 'possible' | 'open';
}

function jsonAnswer(responseFormat: Record<string, unknown> | undefined, rules: GrammarRules): string {
  const type = responseFormat?.type;
  if (type === 'json_object') return rules.base('object');
  const wrapped = responseFormat?.json_schema as { schema?: unknown; strict?: unknown } | null | undefined;
  if (type !== 'json_schema' || wrapped?.schema === undefined || wrapped.schema === null) {
    throw new Failure(
      'invalid',
      `response_format must be {"type": "text"}, {"type": "json_object"} or {"type": "json_schema", "json_schema": {"schema": …}}; its type is ${JSON.stringify(type)}.`,
    );
  }
  const { expression, notes } = schemaExpression(wrapped.schema, rules, { strict: wrapped.strict === true });
  if (notes.length > 0) log('info', `response_format: not enforced: ${notes.join('; ')}`);
  return expression;
}

/** Of a tool that names no parameters: its calls have none. */
const NO_PARAMETERS = { properties: {}, additionalProperties: false };
/** Of a tool whose arguments are not held to its schema. */
const ANY_PARAMETERS = { type: 'object' };

function callExpression(tool: Tool, format: ToolFormat, rules: GrammarRules): string {
  const { name, parameters } = tool.function;
  const { expression, notes } = schemaExpression(
    { ...(parameters ?? NO_PARAMETERS), type: 'object' },
    rules,
    { anyOrder: true },
    `call-${name}`,
  );
  if (notes.length > 0) log('info', `tool ${name}: not enforced: ${notes.join('; ')}`);
  const head = `"{" ws ${literal('"name":')} ws ${literal(JSON.stringify(name))} "," ws ${literal(`"${format.argumentsKey}":`)} ws`;
  return rules.add(`tool-${name}`, `${head} ${expression} ws "}"`);
}

/** One call or several; `opened` = what begins them was said already. */
function callsAnswer(shape: AnswerShape, rules: GrammarRules, opened = false): string {
  const { offer, format } = shape;
  rules.base('ws');
  const call = rules.add('call', oneOf(offer.tools.map((tool) => callExpression(tool, format, rules))));
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
export interface AnswerGrammar {
  /** GBNF. */
  readonly grammar: string;
  /** Text after which it holds; absent = from the beginning. */
  readonly grammarStart?: string;
}

/** Grammars made lately, since clients send the same schema with each request; the oldest goes first. */
const recent = new Map<string, AnswerGrammar>();
const MAX_RECENT = 32;
const MAX_RECENT_KEY_CHARS = 64 * 1024;

/**
 * The grammar of an answer that must be JSON or a tool call, or of the calls that one may hold, behind the tag that begins them; undefined
 * where the answer is free. A thinking block may come first where the model can think. Throws `Failure('invalid')` for schemas that cannot
 * be used where an answer must follow them.
 */
export function answerGrammar(shape: AnswerShape): AnswerGrammar | undefined {
  const forced = shape.offer.mode !== 'auto';
  const type = shape.responseFormat?.type ?? 'text';
  const free = !forced && type === 'text';
  if (free && shape.offer.tools.length === 0) return undefined;
  const key = JSON.stringify([shape.offer, shape.format.name, shape.responseFormat, shape.parallel, shape.thinking]);
  const known = recent.get(key);
  if (known !== undefined) return known;
  const grammar = free ? callGrammar(shape) : { grammar: makeGrammar(shape, forced) };
  if (key.length <= MAX_RECENT_KEY_CHARS) recent.set(key, grammar);
  if (recent.size > MAX_RECENT) recent.delete(recent.keys().next().value ?? key);
  return grammar;
}

/** What `make` gives; undefined for a schema that makes no grammar, and `otherwise` hears why. */
function unlessRefused<T>(make: () => T, otherwise: (why: string) => void = () => {}): T | undefined {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    otherwise(error.message);
    return undefined;
  }
}

/** For calls in a free answer. A tool whose schema makes no grammar has any arguments, and so have all where there are too many rules. */
function callGrammar(shape: AnswerShape): AnswerGrammar {
  const { offer, format } = shape;
  const bare = (tool: Tool): Tool => ({ ...tool, function: { name: tool.function.name, parameters: ANY_PARAMETERS } });
  const usable = (tool: Tool): Tool => {
    const say = (why: string): void => log('info', `tool ${tool.function.name}: arguments are not held to their schema: ${why}`);
    return unlessRefused(() => callExpression(tool, format, new GrammarRules()), say) === undefined ? bare(tool) : tool;
  };
  const of = (tools: Tool[]): AnswerGrammar => {
    const rules = new GrammarRules();
    return { grammar: rules.text(callsAnswer({ ...shape, offer: { ...offer, tools } }, rules, true)), grammarStart: format.open };
  };
  return unlessRefused(() => of(offer.tools)) ?? unlessRefused(() => of(offer.tools.map(usable))) ?? of(offer.tools.map(bare));
}

function makeGrammar(shape: AnswerShape, forced: boolean): string {
  const rules = new GrammarRules();
  const alternatives = forced ? [] : [jsonAnswer(shape.responseFormat, rules)];
  if (shape.offer.tools.length > 0) alternatives.push(callsAnswer(shape, rules));
  const answer = oneOf(alternatives);
  if (shape.thinking === 'none') return rules.text(answer);
  // The engine holds nothing between the tags against the grammar, the closing tag included.
  return rules.text(shape.thinking === 'open' ? `${BLANK} ${answer}` : `"<think>"? ${BLANK} ${answer}`);
}

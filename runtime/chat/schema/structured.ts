import { Failure } from '../../../schemas/errors.js';
import type { Message } from '../../../schemas/generated/common.js';
import type { ModelConfig } from '../../../schemas/generated/config/project.js';
import { isObject } from '../../base/json.js';
import { flawOfValue, SCHEMA_NOT_MET } from '../../completions/answer-check.js';
import { Collector } from '../../completions/collect.js';
import type { CollectedCompletion, Completion, CompletionPart, CompletionRequest } from '../../completions/contract.js';
import { openChoices } from '../../completions/opened-completion.js';
import { SchemaDocument, type SchemaObject } from '../../completions/schema/document.js';
import { WorkLimit } from '../../completions/work-limit.js';
import type { Provider } from '../../providers/contract.js';
import { answerTool, askFor, type Mode, modeOf, type SchemaForm } from './answer-schema.js';

/** Times that an answer is asked for. */
const MAX_TRIES = 3;

/** A provider whose answers fit a project's schema: it asks as the model's `instructor_mode` says, checks the finished text, and asks again with what is wrong. */
export function structuredProvider(provider: Provider, form: SchemaForm): Provider {
  return {
    open: (model, request, signal) =>
      openChoices(request, signal, async (one, each) => {
        const asking = new Asking(provider, model, form, one, each);
        const first = await asking.open(one.messages);
        return {
          model: first.model,
          get contextUsage() {
            return first.contextUsage!;
          },
          parts: asking.parts(first),
        };
      }),
  };
}

/** What became of one try. */
interface Read {
  readonly collected: CollectedCompletion;
  /** All but the progress. */
  readonly parts: readonly CompletionPart[];
}

/** One answer on its way to fitting its schema. */
class Asking {
  readonly #mode: Mode;
  #usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

  constructor(
    readonly provider: Provider,
    readonly model: ModelConfig,
    readonly form: SchemaForm,
    readonly request: CompletionRequest,
    readonly signal: AbortSignal,
  ) {
    this.#mode = modeOf(model, form, request);
  }

  open(messages: readonly Message[]): Promise<Completion> {
    return this.provider.open(this.model, askFor(this.#mode, { ...this.request, messages: [...messages] }, this.form), this.signal);
  }

  /** Throws `model_failed` (schema_not_met) where the last try does not fit either and nothing holds it to its form. */
  async *parts(first: Completion): AsyncGenerator<CompletionPart, void, undefined> {
    let completion = first;
    for (let tries = 1; ; tries += 1) {
      const read = yield* this.#read(completion);
      const text = this.#textOf(read.collected);
      const { flaw, answer } = text === undefined ? { answer: undefined, flaw: undefined } : this.#verdict(text);
      if (flaw === undefined || (this.form.held && tries === MAX_TRIES)) {
        yield* this.#answered(read, answer, tries);
        return;
      }
      if (tries === MAX_TRIES) throw notMet(flaw, tries);
      completion = await this.open([...this.request.messages, ...retryMessages(text!, flaw)]);
    }
  }

  async *#read({ parts }: Completion): AsyncGenerator<CompletionPart, Read, undefined> {
    const collector = new Collector();
    const held: CompletionPart[] = [];
    for await (const part of parts) {
      collector.add(part);
      if (part.type === 'progress') yield part;
      else held.push(part);
    }
    const { usage } = collector.collected;
    for (const name of ['prompt_tokens', 'completion_tokens', 'total_tokens'] as const) this.#usage[name] += usage[name];
    return { collected: collector.collected, parts: held };
  }

  /** The text to be checked; undefined for an answer that is none, as one that broke off or calls other tools. */
  #textOf({ text, toolCalls, finishReason }: CollectedCompletion): string | undefined {
    const name = this.#mode === 'tools' ? answerTool(this.form, this.request).function.name : undefined;
    const given = toolCalls.find((call) => call.function.name === name);
    if (given) return given.function.arguments;
    return toolCalls.length > 0 || finishReason === 'length' || finishReason === 'content_filter' ? undefined : text;
  }

  /** What is wrong with an answer, or the JSON text that stands for it. */
  #verdict(text: string): { flaw: string; answer?: undefined } | { flaw?: undefined; answer: string | undefined } {
    const found = jsonIn(text);
    // A stop text may end what is held to its form.
    if (found === undefined) return this.form.held ? { answer: undefined } : { flaw: 'The answer is no JSON' };
    const flaw = flawOfValue('The answer', this.form.schema, found.value);
    if (flaw !== undefined) return { flaw };
    const whole = withDefaults(found.value, this.form.schema);
    return { answer: whole === found.value ? found.text : JSON.stringify(whole) };
  }

  /** The parts of the answer, `text` in place of what the model wrote around it. */
  *#answered({ collected, parts }: Read, text: string | undefined, tries: number): Generator<CompletionPart, void, undefined> {
    const isAsWritten = text === undefined || text === collected.text;
    for (const part of parts) {
      if (part.type !== 'finish') {
        if (isAsWritten || part.type === 'reasoning') yield part;
        continue;
      }
      if (!isAsWritten) yield { type: 'text', text };
      const notes = [
        ...(part.schemaNotes ?? []),
        ...(tries > 1 ? [`The answer was asked for ${tries} times until it fitted its schema.`] : []),
      ];
      yield {
        ...part,
        reason: isAsWritten ? part.reason : 'stop',
        usage: this.#usage,
        ...(notes.length > 0 ? { schemaNotes: notes } : {}),
      };
    }
  }
}

function retryMessages(text: string, flaw: string): Message[] {
  const said: Message[] = text === '' ? [] : [{ role: 'assistant', content: text }];
  return [...said, { role: 'user', content: `${flaw}. Answer again, with JSON that fits the schema and nothing else.` }];
}

function notMet(flaw: string, tries: number): Failure {
  const message = `${flaw}, after ${tries} tries. Ask again, simplify the schema, or try another instructor_mode of the model.`;
  return new Failure('model_failed', message, { code: SCHEMA_NOT_MET });
}

/** A fenced block of Markdown, its language told or not. */
const FENCE = /```[a-zA-Z]*[ \t]*\r?\n/g;

/** A JSON value and the text that it was read from. */
export interface FoundJson {
  readonly text: string;
  readonly value: unknown;
}

/** The JSON value that a text is, or that stands in its first fenced block, or between its first and last bracket; undefined where there is none. */
export function jsonIn(text: string): FoundJson | undefined {
  return (
    parseJson(text) ?? parseJson(insideFence(text)) ?? parseJson(textBetween(text, '{', '}')) ?? parseJson(textBetween(text, '[', ']'))
  );
}

function insideFence(text: string): string {
  FENCE.lastIndex = 0;
  const open = FENCE.exec(text);
  if (!open) return '';
  const from = open.index + open[0].length;
  const close = text.indexOf('```', from);
  return text.slice(from, close < 0 ? undefined : close);
}

function textBetween(text: string, open: string, close: string): string {
  const from = text.indexOf(open);
  return from < 0 ? '' : text.slice(from, text.lastIndexOf(close) + 1);
}

function parseJson(text: string): FoundJson | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  try {
    return { text: trimmed, value: JSON.parse(trimmed) };
  } catch {
    return undefined;
  }
}

/** Most work that the defaults of one answer may take: some 30 ms. */
const MAX_WORK = 60_000;

/**
 * A value that fits a schema, with the `default` of each property that it lacks; the value itself where it lacks none. Properties of alternatives
 * (`anyOf`) count where one alternative alone can be meant: beside `null`.
 */
export function withDefaults(value: unknown, schema: unknown): unknown {
  return fillDefaults(value, schema, new SchemaDocument(schema, new WorkLimit(MAX_WORK)));
}

function fillDefaults(value: unknown, schema: unknown, document: SchemaDocument): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const found = resolveSchema(schema, document);
  document.work.spend();
  if (Array.isArray(value)) {
    const items = value.map((item) => fillDefaults(item, found?.items, document));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  return found ? filledObject(value as SchemaObject, found, document) : value;
}

function filledObject(value: SchemaObject, schema: SchemaObject, document: SchemaDocument): SchemaObject {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const out = new Map<string, unknown>();
  let isChanged = false;
  const add = (name: string, member: unknown): void => {
    isChanged ||= value[name] !== member || !Object.hasOwn(value, name);
    out.set(name, member);
  };
  for (const [name, property] of Object.entries(properties)) {
    document.work.spend();
    if (Object.hasOwn(value, name)) add(name, fillDefaults(value[name], property, document));
    else if (isObject(property) && property.default !== undefined) add(name, property.default);
  }
  for (const [name, member] of Object.entries(value))
    if (!out.has(name)) add(name, fillDefaults(member, schema.additionalProperties, document));
  return isChanged ? Object.fromEntries(out) : value;
}

/** The schema object behind references; of alternatives the only one that is no `null`. */
function resolveSchema(schema: unknown, document: SchemaDocument): SchemaObject | undefined {
  let found = schema;
  while (isObject(found)) {
    if (typeof found.$ref === 'string') found = document.resolve(found, found.$ref);
    else if (Array.isArray(found.anyOf)) {
      const others = found.anyOf.filter((one) => !isObject(one) || one.type !== 'null');
      if (others.length !== 1) return undefined;
      found = others[0];
    } else return found;
  }
  return undefined;
}

import { createHash } from 'node:crypto';
import type { EventType, SubEvent } from '../../../schemas/generated/core/events.js';
import { isObject } from '../../base/json.js';
import type { StoredEvent } from '../../store/store.js';

/** A value of OTLP in its JSON encoding: 64-bit numbers are texts. */
type OtlpValue =
  | { stringValue: string }
  | { intValue: string }
  | { doubleValue: number }
  | { boolValue: boolean }
  | { arrayValue: { values: OtlpValue[] } };

/** One attribute. */
export interface OtlpAttribute {
  readonly key: string;
  readonly value: OtlpValue;
}

/** A span in OTLP's JSON encoding. */
export interface OtlpSpan {
  /** 32 and 16 hex digits. */
  readonly traceId: string;
  readonly spanId: string;
  readonly name: string;
  readonly kind: number;
  /** Nanoseconds since 1970. */
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: OtlpAttribute[];
  readonly events: { readonly timeUnixNano: string; readonly name: string; readonly attributes: OtlpAttribute[] }[];
  readonly links: { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code?: number; readonly message?: string };
}

/** `SPAN_KIND_INTERNAL`: models, tools and documents are worked with in this process. */
const INTERNAL = 1;
const STATUS_ERROR = 2;
/** Characters of one text. */
const MAX_TEXT = 16 * 1024;
/** Attributes of one span, and of one step. */
const MAX_ATTRIBUTES = 128;

/** What the GenAI conventions call the operation of an event; others have none. */
const OPERATIONS: Partial<Record<EventType, string>> = { inference: 'chat', mcp_call: 'execute_tool' };

/** Settings of a request by their names in the conventions. */
const SETTINGS: Readonly<Record<string, string>> = {
  temperature: 'temperature',
  top_p: 'top_p',
  top_k: 'top_k',
  max_tokens: 'max_tokens',
  frequency_penalty: 'frequency_penalty',
  presence_penalty: 'presence_penalty',
  seed: 'seed',
  n: 'choice.count',
  stop: 'stop_sequences',
};
/** Members of an event's data that have attributes of their own. */
const NOT_PLAIN: ReadonlySet<string> = new Set([
  'model',
  'tokens',
  'duration_ms',
  'messages',
  'response',
  'request',
  'tool_calls',
  'finish_reason',
  'arguments',
  'result',
]);

/** Gathers attributes, within limits. */
class Attributes {
  readonly all: OtlpAttribute[] = [];

  add(key: string, value: unknown): this {
    const shown = this.all.length < MAX_ATTRIBUTES ? otlpValue(value) : undefined;
    if (shown) this.all.push({ key, value: shown });
    return this;
  }
}

/**
 * The span of an event, by OpenTelemetry's conventions for generative AI. `told` is what of it is told beside its figures and settings: the event itself, or the same without what people and models said, which
 * `content` says.
 */
export function spanOf(event: StoredEvent, told: StoredEvent, content: boolean): OtlpSpan {
  const startNano = nanoOf(event.timestamp);
  const endNano = startNano + BigInt(Math.round((event.total_elapsed_time_ms ?? 0) * 1e6));
  const { data, metadata } = told;
  const attributes = new Attributes();
  genAiAttributes(attributes, event);
  if (content) contentAttributes(attributes, event);
  attributes
    .add('quern.event.id', event.event_id)
    .add('quern.event.type', event.type)
    .add('quern.request.id', event.request_id)
    .add('quern.namespace', event.namespace || undefined)
    .add('quern.project', event.project || undefined)
    .add('quern.config.hash', event.config_hash)
    .add('quern.time_to_first_token_ms', event.time_to_first_token_ms);
  for (const [name, value] of Object.entries(data)) if (!NOT_PLAIN.has(name)) plain(attributes, `quern.${name}`, value);
  if (event.error !== null) attributes.add('error.type', metadata.code ?? '_OTHER');
  return {
    ...idsOf(event.event_id),
    name: nameOf(event),
    kind: INTERNAL,
    startTimeUnixNano: String(startNano),
    endTimeUnixNano: String(endNano),
    attributes: attributes.all,
    events: told.sub_events.map(stepOf),
    links: [data.inference_event_id, metadata.replay_of].flatMap((id) => (typeof id === 'string' ? [idsOf(id)] : [])),
    status: event.error === null ? {} : { code: STATUS_ERROR, message: event.error.slice(0, MAX_TEXT) },
  };
}

function nameOf({ type, data }: StoredEvent): string {
  const operation = OPERATIONS[type] ?? type;
  const subject = type === 'mcp_call' ? data.tool : data.model;
  return typeof subject === 'string' ? `${operation} ${subject}` : operation;
}

function genAiAttributes(attributes: Attributes, { type, data, metadata, session_id: session }: StoredEvent): void {
  const operation = OPERATIONS[type];
  if (operation) attributes.add('gen_ai.operation.name', operation).add('gen_ai.provider.name', 'quern');
  attributes.add('gen_ai.conversation.id', session).add('gen_ai.request.model', data.model);
  if (type === 'mcp_call') attributes.add('gen_ai.tool.name', data.tool).add('gen_ai.tool.type', 'extension');
  if (type !== 'inference') return;
  const request = isObject(data.request) ? data.request : {};
  for (const [name, convention] of Object.entries(SETTINGS)) attributes.add(`gen_ai.request.${convention}`, request[name]);
  const tokens = isObject(data.tokens) ? data.tokens : {};
  attributes
    .add('gen_ai.usage.input_tokens', tokens.prompt)
    .add('gen_ai.usage.output_tokens', tokens.completion)
    .add('gen_ai.response.model', data.model)
    .add('gen_ai.response.finish_reasons', typeof data.finish_reason === 'string' ? [data.finish_reason] : undefined)
    .add('gen_ai.output.type', isObject(request.response_format) && request.response_format.type !== 'text' ? 'json' : 'text')
    .add('quern.stream', metadata.stream);
}

function contentAttributes(attributes: Attributes, { data }: StoredEvent): void {
  const json = (value: unknown): string | undefined => (value === undefined || value === null ? undefined : JSON.stringify(value));
  if (Array.isArray(data.messages)) {
    attributes.add('gen_ai.input.messages', json(data.messages.map(wireMessage)));
    attributes.add(
      'gen_ai.output.messages',
      json([wireMessage({ role: 'assistant', content: data.response, tool_calls: data.tool_calls })]),
    );
  }
  attributes.add('gen_ai.tool.call.arguments', json(data.arguments)).add('gen_ai.tool.call.result', json(data.result));
}

/** A message in the form of the conventions: a role and parts. */
function wireMessage(message: unknown): object {
  const { role, content, tool_calls: calls, tool_call_id: id } = (isObject(message) ? message : {}) as Record<string, unknown>;
  const texts = (
    typeof content === 'string' ? [content] : Array.isArray(content) ? content.map((part) => (isObject(part) ? part.text : undefined)) : []
  )
    .filter((text) => typeof text === 'string' && text !== '')
    .map((text) => (role === 'tool' ? { type: 'tool_call_response', id: id ?? null, response: text } : { type: 'text', content: text }));
  const called = (Array.isArray(calls) ? calls : []).map((call) => {
    const { id: callId, function: asked } = call as { id?: string; function?: { name?: string; arguments?: unknown } };
    return { type: 'tool_call', id: callId ?? null, name: asked?.name ?? null, arguments: asked?.arguments ?? null };
  });
  return { role, parts: [...texts, ...called] };
}

function stepOf({ timestamp, event_name: name, data }: SubEvent): OtlpSpan['events'][number] {
  const attributes = new Attributes();
  for (const [key, value] of Object.entries(data)) plain(attributes, `quern.${key}`, value);
  return { timeUnixNano: String(nanoOf(timestamp)), name, attributes: attributes.all };
}

/** Adds what is no object; the members of an object by their names. */
function plain(attributes: Attributes, key: string, value: unknown): void {
  if (isObject(value)) {
    for (const [name, member] of Object.entries(value)) if (typeof member === 'number') attributes.add(`${key}.${name}`, member);
  } else attributes.add(key, value);
}

function otlpValue(value: unknown): OtlpValue | undefined {
  if (typeof value === 'string') return { stringValue: value.slice(0, MAX_TEXT) };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : Number.isFinite(value) ? { doubleValue: value } : undefined;
  if (!Array.isArray(value)) return undefined;
  const values = value.slice(0, MAX_ATTRIBUTES).flatMap((one) => (Array.isArray(one) ? [] : (otlpValue(one) ?? [])));
  return values.length === value.length ? { arrayValue: { values } } : undefined;
}

/** The ids of an event's trace and span, which any other event that names it can make too. */
function idsOf(eventId: string): { traceId: string; spanId: string } {
  const hash = createHash('sha256').update(eventId).digest('hex');
  return { traceId: hash.slice(0, 32), spanId: hash.slice(32, 48) };
}

const nanoOf = (timestamp: string): bigint => BigInt(Date.parse(timestamp)) * 1_000_000n;

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { AccessRules } from '../../gateway/http/access.js';
import { dispatch } from '../../gateway/http/dispatch.js';
import type { Application } from '../../gateway/http/transport.js';
import type { Endpoint } from '../../schemas/endpoint.js';
import { type Answer, type Asked, RecordedExchange } from './exchange.js';

/** Stands for any number of events, none included. */
export const ANY_EVENTS: unique symbol = Symbol('any events');

/** One expected event: its exact text, a pattern, or members that its JSON must have. */
export type ExpectedEvent = string | RegExp | Readonly<Record<string, unknown>> | typeof ANY_EVENTS;

/** One row of a scenario table. Functions are evaluated when the row's turn comes, so that they can use what earlier rows found. */
export interface Scenario {
  readonly name: string;
  /** GET unless given. */
  readonly method?: string;
  readonly path: string | (() => string);
  readonly headers?: Readonly<Record<string, string>> | (() => Readonly<Record<string, string>>);
  /** Text and bytes go out as they are (then name a content type), anything else as JSON. */
  readonly body?: unknown;
  /** 200 unless given. */
  readonly status?: number;
  /** Texts that the answer's body must hold. */
  readonly contains?: readonly string[];
  /** Texts that neither body nor headers may hold. */
  readonly lacks?: readonly string[];
  /** Headers that must be there, by lower-case name. */
  readonly answerHeaders?: Readonly<Record<string, string | RegExp>>;
  /** Further checks on the parsed body; lines of JSON are a list. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
  readonly json?: (body: any, answer: Answer) => void | Promise<void>;
  /** The whole stream, event by event. */
  readonly events?: readonly ExpectedEvent[];
}

/** What one row expects of its answer: members of the row, or the check of the parsed body alone. */
export type Expected = Omit<Scenario, 'name' | 'method' | 'path' | 'body'> | NonNullable<Scenario['json']>;

/** The members of a row that state what is expected. */
export function expectations(expected: Expected): Omit<Scenario, 'name' | 'method' | 'path' | 'body'> {
  return typeof expected === 'function' ? { json: expected } : expected;
}

/** What the rows of a table are sent to. */
export interface Stage<Context> {
  readonly endpoints: readonly Endpoint<Context>[];
  /** Made before the first row. */
  readonly context: () => Context | Promise<Context>;
  readonly access?: Partial<AccessRules>;
  /** Called after the last row. */
  readonly close?: (context: Context) => void | Promise<void>;
}

/** What is answered where the machine gave a computation no time: the same request may do well later. */
const TOO_BUSY = 'This machine is too busy to ';
/** How often it is sent again then; each time takes twelve seconds. */
const MOST_AGAIN = 10;

/** Begins a request to an application without sockets. */
export function begin(application: Application, asked: Asked): RecordedExchange {
  const exchange = new RecordedExchange(asked);
  application.request(exchange);
  return exchange;
}

/** Sends one request through an application without sockets; again, as clients do, where the machine was too busy for it. */
export async function send(application: Application, asked: Asked): Promise<Answer> {
  for (let again = 0; ; again += 1) {
    const answer = await begin(application, asked).done;
    if (answer.status !== 503 || !answer.text.includes(TOO_BUSY) || again === MOST_AGAIN) return answer;
  }
}

/** Runs a table as tests of one suite, in order, on one context. */
export function scenarios<Context>(title: string, stage: Stage<Context>, table: readonly Scenario[]): void {
  describe(title, () => {
    let context: Context;
    let application: Application;
    before(async () => {
      context = await stage.context();
      application = dispatch({ endpoints: stage.endpoints, context, access: { bindHost: '127.0.0.1', ...stage.access } });
    });
    after(async () => {
      await stage.close?.(context);
    });
    for (const scenario of table) it(scenario.name, () => play(application, scenario));
  });
}

async function play(application: Application, scenario: Scenario): Promise<void> {
  const { path, headers, body } = scenario;
  const asked: Asked = {
    method: scenario.method ?? 'GET',
    path: typeof path === 'function' ? path() : path,
    headers: (typeof headers === 'function' ? headers() : headers) ?? {},
    body: typeof body === 'function' ? (body as () => unknown)() : body,
  };
  const answer = await send(application, asked);
  assert.equal(answer.status, scenario.status ?? 200, `status ${answer.status}: ${answer.text.slice(0, 500)}`);
  for (const text of scenario.contains ?? []) assert.ok(answer.text.includes(text), `lacks ${text}: ${answer.text.slice(0, 2000)}`);
  const everything = `${JSON.stringify(answer.headers)}\n${answer.text}`;
  for (const text of scenario.lacks ?? []) assert.ok(!everything.includes(text), `holds ${text}: ${everything.slice(0, 2000)}`);
  for (const [name, value] of Object.entries(scenario.answerHeaders ?? {})) {
    if (typeof value === 'string') assert.equal(answer.headers[name], value, `header ${name}`);
    else assert.match(answer.headers[name] ?? '', value, `header ${name}`);
  }
  if (scenario.events) assertEvents(answer.events, scenario.events);
  if (scenario.json) await scenario.json(parsedBody(answer), answer);
}

/** The body as JSON; of lines of JSON a list. */
function parsedBody({ text, bytes, events, headers }: Answer): unknown {
  if (text === '' || bytes || events.length > 0) return undefined;
  if (headers['content-type'] !== 'application/x-ndjson') return JSON.parse(text);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Compares a stream with what is expected of it, event by event; `ANY_EVENTS` matches as few as possible. */
export function assertEvents(events: readonly string[], expected: readonly ExpectedEvent[]): void {
  let at = 0;
  let skipping = false;
  for (const [index, one] of expected.entries()) {
    if (one === ANY_EVENTS) {
      skipping = true;
      continue;
    }
    const last = index === expected.length - 1;
    if (skipping && last) at = Math.max(at, events.length - 1);
    while (skipping && at < events.length && !fits(events[at]!, one)) at += 1;
    assert.ok(at < events.length && fits(events[at]!, one), `event ${at} should be ${shown(one)}, is ${events[at] ?? 'missing'}`);
    at += 1;
    skipping = false;
  }
  if (!skipping) assert.equal(events.length, at, `more events than expected: ${events.slice(at).join(' | ').slice(0, 500)}`);
}

function shown(one: ExpectedEvent): string {
  return typeof one === 'string' || one instanceof RegExp ? String(one) : JSON.stringify(one);
}

function fits(event: string, one: ExpectedEvent): boolean {
  if (typeof one === 'string') return event === one;
  if (one instanceof RegExp) return one.test(event);
  try {
    return includes(JSON.parse(event), one);
  } catch {
    return false;
  }
}

/** Whether `value` has at least the members of `part`, at every depth. */
function includes(value: unknown, part: unknown): boolean {
  if (part === null || typeof part !== 'object') return Object.is(value, part);
  if (value === null || typeof value !== 'object') return false;
  return Object.entries(part).every(([key, wanted]) => includes((value as Record<string, unknown>)[key], wanted));
}

import { createHash } from 'node:crypto';
import type { EventItem, SubEvent } from '../../schemas/generated/core/events.js';
import { HIDDEN, isSecretFolder, withoutTextSecrets } from '../../schemas/secrets.js';
import { isObject } from '../base/json.js';
import type { StoredEvent } from '../store/store.js';
import type { EndedEvent, EventData } from './recording.js';

/** The note that marks the first token of an answer. */
export const FIRST_TOKEN = 'llm_first_token';

/** An event as it is stored: without secrets, and with as much of its content as `rule` says. */
export function storedEventOf(event: EndedEvent, configHash: string, rule: ContentRule): StoredEvent {
  const { id, requestId, type, project, startedMs, fromMs, toMs, notes, outcome, sessionId } = event;
  const redactor = new EventRedactor(rule);
  let before = fromMs;
  const subEvents: SubEvent[] = notes.map(({ name, atMs, data, content }) => {
    const duration = atMs - before;
    before = atMs;
    return {
      timestamp: new Date(startedMs + (atMs - fromMs)).toISOString(),
      event_name: name,
      duration_ms: rounded(duration),
      data: redactor.members(data, content),
    };
  });
  const durationMs = rounded(toMs - fromMs);
  const data = {
    ...(type === 'inference' || outcome.model !== undefined ? { model: outcome.model ?? null } : {}),
    ...(type === 'inference' ? { tokens: outcome.tokens ?? null } : {}),
    ...redactor.members(outcome.data ?? {}, outcome.content),
    duration_ms: durationMs,
  };
  const metadata = redactor.members(outcome.metadata ?? {});
  const error = outcome.error === undefined ? null : redactor.text(outcome.error);
  const firstToken = notes.find(({ name }) => name === FIRST_TOKEN);
  return {
    event_id: id,
    event_type: type,
    type,
    request_id: requestId,
    timestamp: new Date(startedMs).toISOString(),
    namespace: project.namespace,
    project: project.name,
    config_hash: configHash,
    session_id: sessionId ?? null,
    status: error === null ? 'completed' : 'failed',
    error,
    metadata: { ...metadata, content: rule, ...(redactor.isCut ? { cut: true } : {}) },
    data,
    sub_events: subEvents,
    total_elapsed_time_ms: durationMs,
    time_to_first_token_ms: firstToken ? rounded(firstToken.atMs - fromMs) : null,
  };
}

/** Milliseconds with microseconds. */
const rounded = (ms: number): number => Math.round(ms * 1000) / 1000;

/** What lists and streams show of an event. */
export function eventItemOf(record: StoredEvent): EventItem {
  const { event_id, event_type, type, request_id, timestamp, namespace, project, status, config_hash, session_id } = record;
  const durationMs = record.total_elapsed_time_ms;
  const { model, tokens } = record.data as Partial<EventItem['summary']>;
  const summary = { model: model ?? null, tokens: tokens ?? null, duration_ms: durationMs };
  return {
    event_id,
    event_type,
    type,
    request_id,
    timestamp,
    namespace,
    project,
    status,
    duration_ms: durationMs,
    config_hash,
    session_id,
    summary,
  };
}

/** What of an event's content is kept. */
type ContentRule = 'full' | 'hash' | 'off';

/** Characters of one text, and of all texts of one event, that are kept. */
const MAX_TEXT = 64 * 1024;
const MAX_EVENT = 256 * 1024;
/** Members and list entries of one event. */
const MAX_PARTS = 4_000;
const MAX_DEPTH = 32;
/** Looked at beyond what is kept, so that no secret is cut in half and then not known. */
const MARGIN = 8 * 1024;
/** Characters of one member of content that is kept as its hash; a longer one is left out. */
const MAX_HASHED = 1024 * 1024;
/** A text that is at least as long is looked at once, however often an event repeats it. */
const WORTH_KEEPING = 64;
/** An address that holds a file is kept up to this. */
const MAX_DATA_ADDRESS = 64;

/** Makes what is written of one event: without secrets, within limits, and with as much of its content as its project wants. */
export class EventRedactor {
  /** Whether anything was left out because it is too long. */
  isCut = false;
  #characters = MAX_EVENT;
  #parts = MAX_PARTS;
  readonly #rule: ContentRule;
  readonly #looked = new Map<string, string>();

  constructor(rule: ContentRule) {
    this.#rule = rule;
  }

  /** The members of `data`, and those of `content` as the project's rule has them. */
  members(data: EventData, content: EventData = {}): Record<string, unknown> {
    const shown = this.#object(data, 0);
    if (this.#rule === 'off') return shown;
    for (const [name, value] of Object.entries(content))
      if (value !== undefined) shown[name] = this.#rule === 'hash' ? this.#hash(value) : this.#value(name, value, 1);
    return shown;
  }

  #hash(value: unknown): string | null {
    if (sizeOf(value, MAX_HASHED) <= MAX_HASHED) return hashOf(value);
    this.isCut = true;
    return null;
  }

  /** A text without secrets, not longer than is kept. */
  text(text: string): string {
    if (text.startsWith('data:') && text.length > MAX_DATA_ADDRESS) {
      this.isCut = true;
      return `${text.slice(0, MAX_DATA_ADDRESS)}… (${text.length} characters)`;
    }
    const room = Math.min(MAX_TEXT, this.#characters);
    if (room === 0 && text !== '') {
      this.isCut = true;
      return `… (${text.length} characters)`;
    }
    const whole = text.length <= room;
    let shown = whole ? this.#withoutSecrets(text) : withoutTextSecrets(text.slice(0, room + MARGIN));
    if (!whole) {
      this.isCut = true;
      shown = `${shown.slice(0, Math.max(0, Math.min(room, shown.length - MARGIN)))}… (${text.length} characters)`;
    }
    this.#characters = Math.max(0, this.#characters - shown.length);
    return shown;
  }

  #withoutSecrets(text: string): string {
    if (text.length < WORTH_KEEPING) return withoutTextSecrets(text);
    const known = this.#looked.get(text);
    if (known !== undefined) return known;
    const shown = withoutTextSecrets(text);
    this.#looked.set(text, shown);
    return shown;
  }

  #object(object: EventData, depth: number): Record<string, unknown> {
    const shown: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(object)) {
      if (value === undefined) continue;
      this.#parts -= 1;
      if (this.#parts < 0) {
        this.isCut = true;
        break;
      }
      // Names come from clients too, and one of them must not become the prototype.
      Object.defineProperty(shown, name, {
        value: this.#value(name, value, depth + 1),
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
    return shown;
  }

  #value(name: string, value: unknown, depth: number): unknown {
    if (value === null || typeof value === 'boolean') return value;
    if (isSecretFolder(name)) return HIDDEN;
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') return Number.isFinite(value) ? value : null;
    if (depth > MAX_DEPTH) {
      this.isCut = true;
      return null;
    }
    if (Array.isArray(value)) return this.#list(value, depth);
    return isObject(value) ? this.#object(value, depth) : null;
  }

  #list(list: readonly unknown[], depth: number): unknown[] {
    const shown: unknown[] = [];
    for (const one of list) {
      this.#parts -= 1;
      if (this.#parts < 0) {
        this.isCut = true;
        break;
      }
      shown.push(this.#value('', one, depth + 1));
    }
    return shown;
  }
}

/** Characters of the texts in a value, and its members; not counted further than `most`. */
function sizeOf(value: unknown, most: number): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  let size = 0;
  for (const name in value) {
    size += 1 + sizeOf((value as Record<string, unknown>)[name], most - size);
    if (size > most) break;
  }
  return size;
}

/** Stands for a text, or for the JSON text of anything else. */
function hashOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

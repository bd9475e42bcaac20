import type { EventItem, SubEvent } from '../../schemas/generated/core/events.js';
import type { StoredEvent } from '../store/store.js';
import type { EndedEvent } from './recording.js';
import { type ContentRule, Shown } from './shown.js';

/** The note that marks the first token of an answer. */
export const FIRST_TOKEN = 'llm_first_token';

/** Milliseconds with microseconds. */
const rounded = (ms: number): number => Math.round(ms * 1000) / 1000;

/** An event as it is stored: without secrets, and with as much of its content as `rule` says. */
export function sealedEvent(event: EndedEvent, configHash: string, rule: ContentRule): StoredEvent {
  const { id, requestId, type, project, startedMs, fromMs, toMs, notes, outcome, sessionId } = event;
  const shown = new Shown(rule);
  let before = fromMs;
  const subEvents: SubEvent[] = notes.map(({ name, atMs, data, content }) => {
    const duration = atMs - before;
    before = atMs;
    return {
      timestamp: new Date(startedMs + (atMs - fromMs)).toISOString(),
      event_name: name,
      duration_ms: rounded(duration),
      data: shown.members(data, content),
    };
  });
  const durationMs = rounded(toMs - fromMs);
  const data = {
    ...(type === 'inference' || outcome.model !== undefined ? { model: outcome.model ?? null } : {}),
    ...(type === 'inference' ? { tokens: outcome.tokens ?? null } : {}),
    ...shown.members(outcome.data ?? {}, outcome.content),
    duration_ms: durationMs,
  };
  const metadata = shown.members(outcome.metadata ?? {});
  const error = outcome.error === undefined ? null : shown.text(outcome.error);
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
    metadata: { ...metadata, content: rule, ...(shown.isCut ? { cut: true } : {}) },
    data,
    sub_events: subEvents,
    total_elapsed_time_ms: durationMs,
    time_to_first_token_ms: firstToken ? rounded(firstToken.atMs - fromMs) : null,
  };
}

/** What lists and streams show of an event. */
export function itemOf(record: StoredEvent): EventItem {
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

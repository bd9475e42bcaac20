import { Failure } from '../../schemas/errors.js';
import type { Message } from '../../schemas/generated/common.js';
import type { ProjectConfig } from '../../schemas/generated/config/project.js';
import type { CompletionRequest as ChatRequest } from '../../schemas/generated/core/chat.js';
import type { EventRecord, ReplayReply, ReplayRequest, Run } from '../../schemas/generated/core/events.js';
import { HIDDEN } from '../../schemas/secrets.js';
import { check } from '../../schemas/validate.js';
import { isObject, sameJson } from '../base/json.js';
import { withSecretsOf } from '../config/secrets.js';
import type { Events } from '../events/events.js';
import type { LoadedProject } from '../projects/projects.js';
import type { ChatTurn } from './turn.js';

/** Which turn a call repeats. */
export interface ReplayOf {
  /** The id of its event. */
  readonly of: string;
  /** What was said before it in its session. */
  readonly history: readonly Message[];
}

/** The call that repeats a turn. */
interface ReplayCall {
  readonly namespace: string;
  readonly project: string;
  readonly request: ChatRequest;
  readonly stateful: false;
  readonly replay: ReplayOf;
}

/** What a replay is made of. */
export interface ReplayParts {
  readonly events: Events;
  readonly project: LoadedProject;
  readonly signal: AbortSignal;
  /** The messages of a session. */
  history(sessionId: string): Promise<Message[]>;
  open(call: ReplayCall, project: LoadedProject): Promise<ChatTurn>;
}

/** What the event of a turn says of it; see `TurnRecord`. */
interface TurnData {
  readonly messages?: Message[];
  readonly request?: Partial<ChatRequest>;
  readonly response?: string | null;
  readonly tool_calls?: unknown[];
  readonly finish_reason?: string | null;
  readonly history_messages?: number;
  readonly passages?: { readonly id: string }[];
}

/** How a turn is run again. */
export interface ReplayWish extends Omit<ReplayRequest, 'config'> {
  /** `recorded`, `current`, or settings of the project. */
  readonly config?: ReplayRequest['config'] | ProjectConfig;
}

/** Runs the turn of an event again, in no session, as the wish says, and compares. Throws `not_found`, `bad_request` (NotReplayable), `conflict` (NotRecorded). */
export async function replayTurn(parts: ReplayParts, id: string, { config: given = 'recorded', model }: ReplayWish): Promise<ReplayReply> {
  const which = typeof given === 'string' ? given : 'current';
  const { events, project, signal } = parts;
  const record = await events.get(project.namespace, project.name, id);
  const { messages, request } = recordedTurn(record);
  const notes: string[] = [];
  if (JSON.stringify(messages).includes(HIDDEN)) notes.push(`Secrets were recorded as ${HIDDEN} and are sent so.`);
  const history = await historyOf(parts, record, notes);
  const wanted = check<ChatRequest>('core/chat#CompletionRequest', { ...request, messages, stream: false, ...(model ? { model } : {}) });
  const on =
    typeof given === 'object'
      ? { ...project, config: given }
      : given === 'recorded'
        ? { ...project, config: recordedConfig(events, project, record) }
        : project;
  const call: ReplayCall = {
    namespace: project.namespace,
    project: project.name,
    request: wanted,
    stateful: false,
    replay: { of: id, history },
  };
  const recorded = runOf(record);
  const again = await runAgain(parts, call, on, recorded.config_hash).catch((failure: unknown) => {
    if (signal.aborted || !(failure instanceof Failure)) throw failure;
    return { ...EMPTY_RUN, config_hash: events.hashOf(on.config), model: wanted.model ?? recorded.model, error: failure.message };
  });
  return { config: which, recorded, replayed: again, differs: runDifferences(recorded, again), notes };
}

const EMPTY_RUN = {
  event_id: null,
  status: 'failed',
  response: null,
  tool_calls: [],
  finish_reason: null,
  passages: [],
  tokens: null,
  duration_ms: null,
  time_to_first_token_ms: null,
} satisfies Partial<Run>;

async function runAgain({ events, open }: ReplayParts, call: ReplayCall, project: LoadedProject, hash: string): Promise<Run> {
  const startedMs = performance.now();
  const turn = await open(call, project);
  const { choices } = (await turn.body()) as { choices: { message: { content: string | null; tool_calls?: unknown[] } }[] };
  const durationMs = performance.now() - startedMs;
  const message = choices[0]?.message;
  const said = { response: message?.content ?? '', tool_calls: message?.tool_calls ?? [] };
  // What the project keeps of content does not matter to whoever asks now.
  const record =
    turn.eventId === undefined ? undefined : await events.get(call.namespace, call.project, turn.eventId).catch(() => undefined);
  const run = record ? runOf(record) : { ...EMPTY_RUN, config_hash: hash, model: null, error: null, duration_ms: durationMs };
  return { ...run, status: 'completed', ...said };
}

function recordedTurn({ type, event_id: id, metadata, data }: EventRecord): { messages: Message[]; request: Partial<ChatRequest> } {
  const { messages, request } = data as TurnData;
  if (type !== 'inference')
    throw new Failure('bad_request', `Event '${id}' is of type ${type}; only an inference can be run again.`, { code: 'NotReplayable' });
  if (metadata.content !== 'full' || metadata.cut === true || !Array.isArray(messages) || !isObject(request)) {
    const why = metadata.cut === true ? 'its texts were too long to be kept whole' : `events.content was ${String(metadata.content)}`;
    throw new Failure('conflict', `Event '${id}' cannot be run again: ${why}.`, { code: 'NotRecorded' });
  }
  return { messages, request };
}

async function historyOf({ history }: ReplayParts, { session_id: session, data }: EventRecord, notes: string[]): Promise<Message[]> {
  const wanted = (data as TurnData).history_messages ?? 0;
  if (wanted === 0 || session === null) return [];
  const messages = await history(session);
  if (messages.length >= wanted) return messages.slice(0, wanted);
  notes.push(`Session ${session} does not have its ${wanted} earlier messages any more; the turn ran without them.`);
  return [];
}

/** The configuration of that time, with the secrets of today. Throws `conflict` where it is not stored, `invalid` for a secret that is gone. */
function recordedConfig(events: Events, project: LoadedProject, { event_id: id, config_hash: hash }: EventRecord): ProjectConfig {
  if (events.hashOf(project.config) === hash) return project.config;
  const config = events.config(project.namespace, project.name, hash);
  if (!config) {
    const message = `The configuration that event '${id}' ran on is not stored any more. Send {"config": "current"} to run it on today's.`;
    throw new Failure('conflict', message, { code: 'NotRecorded' });
  }
  return withSecretsOf(config, project.config, ['config']) as unknown as ProjectConfig;
}

function runOf({ event_id, config_hash, status, error, data, total_elapsed_time_ms, time_to_first_token_ms }: EventRecord): Run {
  const said = data as TurnData & Partial<Pick<Run, 'model' | 'tokens'>>;
  const { response = null, tool_calls = [], finish_reason = null, passages = [], model = null, tokens = null } = said;
  return {
    event_id,
    config_hash,
    status,
    error,
    model,
    response,
    tool_calls,
    finish_reason,
    passages: passages.map(({ id }) => id),
    tokens,
    duration_ms: total_elapsed_time_ms,
    time_to_first_token_ms,
  };
}

/** What a comparison looks at, by the names that it answers with. */
const COMPARED: readonly [name: string, member: keyof Run][] = [
  ['model', 'model'],
  ['passages', 'passages'],
  ['text', 'response'],
  ['tool_calls', 'tool_calls'],
  ['tokens', 'tokens'],
  ['finish_reason', 'finish_reason'],
  ['status', 'status'],
];

function runDifferences(a: Run, b: Run): string[] {
  return COMPARED.filter(([, member]) => !sameJson(a[member], b[member])).map(([name]) => name);
}

import { randomUUID } from 'node:crypto';
import { orLate } from '../../runtime/base/loop.js';
import type { ChatTurn } from '../../runtime/chat/turn.js';
import type { CompletionPart } from '../../runtime/completions/contract.js';
import { isHelpProject } from '../../runtime/projects/cache.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type Endpoint, endpoint, type Request } from '../../schemas/endpoint.js';
import type { CompletionRequest, Decision } from '../../schemas/generated/core/chat.js';
import { CHAT_BODY_BYTES } from '../http/body.js';
import { placeOf } from './place.js';

/** A stream whose turn is not open after this long begins without it, so that nothing between here and the client cuts the connection: its model is being fetched, or loads. */
const OPEN_MS = 15_000;
/** Progress is told no more often. */
const PROGRESS_EVERY_MS = 100;
const CHAT = '/v1/projects/{namespace}/{project}/chat';
const CALLS = '/v1/projects/{namespace}/{project}/mcp/calls';

async function deleteSession({ chat }: Runtime, request: Request): Promise<{ json: unknown }> {
  const id = request.params.session_id!;
  await chat.deleteSession(...placeOf(request), id);
  return { json: { message: `Session ${id} deleted` } };
}

/** Tells of the text of an answer while it is written, token by token or several together. */
function textProgress(tell: Request['progress'], asked: CompletionRequest): ((part: CompletionPart) => void) | undefined {
  if (!tell) return undefined;
  const total = asked.max_completion_tokens ?? asked.max_tokens ?? undefined;
  let tokens = 0;
  let text = '';
  let toldMs = performance.now();
  return (part) => {
    if (part.type === 'text' && (part.choice ?? 0) === 0) {
      tokens += 1;
      text += part.text;
    }
    const isDue = part.type === 'finish' || performance.now() - toldMs >= PROGRESS_EVERY_MS;
    if (text === '' || !isDue) return;
    tell({ done: tokens, total, text });
    text = '';
    toldMs = performance.now();
  };
}

/** The frames of a turn that is not open yet. */
async function* framesOf(opening: Promise<ChatTurn>): AsyncGenerator<string, void, undefined> {
  yield* (await opening).frames();
}

/** The chat endpoints of a project: completions, the sessions that hold their history, and the calls of tools that wait for a person. */
export const chatEndpoints: Endpoint<Runtime>[] = [
  endpoint<Runtime>({
    method: 'POST',
    path: `${CHAT}/completions`,
    id: 'chat_completions',
    access: 'members',
    summary: 'Complete a chat on a model of the project',
    tag: 'chat',
    tool: 'adds',
    body: 'core/chat#CompletionRequest',
    response: 'core/chat#CompletionResponse',
    streams: true,
    bodyLimitBytes: CHAT_BODY_BYTES,
    errorShape: 'by-client',
    handler: async ({ chat, help }, request) => {
      const [namespace, project] = placeOf(request);
      const body = request.body as CompletionRequest;
      // Any value of X-No-Session counts, even none, and it wins over X-Session-ID.
      const stateful = request.header('x-no-session') === undefined;
      // Known before the turn is open, for streams that begin sooner.
      const sessionId = request.header('x-session-id') || (stateful ? randomUUID() : undefined);
      const call = { namespace, project, request: body, stateful, sessionId };
      const opening = isHelpProject(namespace, project)
        ? help.complete(call, request.header('x-active-project'), request.signal)
        : chat.complete(call, request.signal);
      const headers: Record<string, string> = stateful ? { 'X-Session-ID': sessionId! } : {};
      if (body.stream) return { headers, events: (await orLate(opening, OPEN_MS))?.frames() ?? framesOf(opening) };
      return { headers, json: await (await opening).body(textProgress(request.progress, body)) };
    },
  }),
  endpoint<Runtime>({
    method: 'GET',
    path: `${CHAT}/sessions/{session_id}/history`,
    id: 'chat_session_history',
    access: 'members',
    summary: 'Read the history of a chat session',
    tag: 'chat',
    response: 'core/chat#HistoryResponse',
    handler: async ({ chat }, request) => ({ json: { messages: await chat.history(...placeOf(request), request.params.session_id!) } }),
  }),
  endpoint<Runtime>({
    method: 'DELETE',
    path: `${CHAT}/sessions/{session_id}`,
    id: 'chat_session_delete',
    access: 'members',
    summary: 'Delete a chat session',
    tag: 'chat',
    response: 'core/chat#DeleteSessionResponse',
    handler: deleteSession,
  }),
  endpoint<Runtime>({
    method: 'DELETE',
    path: `${CHAT}/session/{session_id}`,
    id: 'chat_session_delete_old',
    access: 'members',
    summary: 'Delete a chat session (path of older clients)',
    tag: 'chat',
    response: 'core/chat#DeleteSessionResponse',
    hidden: true,
    handler: deleteSession,
  }),
  endpoint<Runtime>({
    method: 'DELETE',
    path: `${CHAT}/sessions`,
    id: 'chat_sessions_delete',
    access: 'writers',
    summary: 'Delete all chat sessions of the project',
    tag: 'chat',
    response: 'core/chat#DeleteSessionsResponse',
    handler: async ({ chat }, request) => {
      const count = await chat.deleteSessions(...placeOf(request));
      return { json: { message: `${count} ${count === 1 ? 'session' : 'sessions'} deleted`, count } };
    },
  }),
  endpoint<Runtime>({
    method: 'GET',
    path: CALLS,
    id: 'chat_waiting_calls',
    access: 'writers',
    summary: 'List the calls of tools that wait for a person',
    tag: 'chat',
    response: 'core/chat#WaitingReply',
    handler: async ({ chat }, request) => ({ json: { calls: chat.waitingCalls(...placeOf(request)) } }),
  }),
  endpoint<Runtime>({
    method: 'POST',
    path: `${CALLS}/{id}`,
    id: 'chat_decide_call',
    access: 'writers',
    summary: 'Allow or deny a call of a tool that waits',
    tag: 'chat',
    body: 'core/chat#Decision',
    response: 'core/chat#DecisionReply',
    handler: async ({ chat }, request) => {
      const { decision } = request.body as Decision;
      return { json: await chat.decide(...placeOf(request), request.params.id!, decision, request.signal) };
    },
  }),
];

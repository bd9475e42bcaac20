import { Failure } from '../../schemas/errors.js';
import type { Message, TurnBegun, TurnRequest } from '../../schemas/generated/core/conversations.js';
import type { ChatCall } from '../chat/chat.js';
import { sizeOf } from '../chat/session.js';
import type { ChatTurn } from '../chat/turn.js';
import { DONE } from '../completions/wire.js';
import type { ConversationMessage } from '../store/records.js';
import type { Batch } from '../store/store.js';
import { GrowingAnswer } from './answer.js';
import { type NewFile, putFiles, takeFiles } from './attachments.js';
import { chatMessages, requestOf } from './branch.js';
import { type Conversations, mergeSettings, touchedNow } from './conversations.js';
import { messageId } from './ids.js';
import { CONVERSATION_BYTES, type Head, MESSAGES_LIMIT, NAMED_TURNS, type Place, PREVIEW_CHARACTERS, shownHead } from './records.js';
import { eventFrame, RunningTurn } from './turn.js';

/** Most characters of a title that is made of a question. */
const TITLE_FROM_QUESTION = 60;

/** Room that is made for an answer before it is known. */
const EXPECTED_ANSWER_BYTES = 64 * 1024;

/** What a turn is asked with. */
export interface TurnAsked {
  readonly request: TurnRequest;
  /** As `TurnRequest.client_id`. */
  readonly clientId: string | undefined;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
  /** Asks the project's model. */
  open(call: ChatCall, signal: AbortSignal): Promise<ChatTurn>;
  /** Address of an attachment. */
  addressOf(id: string): string;
}

/** What a turn adds to the tree. */
interface Plan {
  /** What was said before, the question or the results of calls included. */
  readonly path: readonly ConversationMessage[];
  /** Messages that are new, without the answer. */
  readonly said: readonly Message[];
  readonly files: readonly NewFile[];
  /** The answer before the model writes, with the calls that were made for it already. */
  readonly answer: ConversationMessage;
  /** Whether the answer is written on, which is there already. */
  readonly isContinued: boolean;
  /** Whether that one is not whole, so that the model goes on in it from its last letter. */
  readonly isOpen: boolean;
}

/**
 * Begins a turn: the question is on disk when this resolves to the events of the answer. Throws `conflict` where a turn is under way or the conversation is full, `bad_request` for a
 * request that fits no message, and what the store throws; what the model throws is told in the stream.
 */
export async function beginTurn(conversations: Conversations, place: Place, id: string, asked: TurnAsked): Promise<AsyncIterable<string>> {
  const { records, running, locks } = conversations.shared;
  const { clientId } = asked;
  return locks.run(id, async () => {
    const before = records.head(place, id);
    const earlier = before.turns.find(([name]) => name === clientId);
    if (earlier && clientId !== undefined) return repeatedEvents(conversations, before, earlier[1]);
    conversations.refuseRunning(id);
    const plan = await planTurn(conversations, before, asked);
    await records.store.expect(EXPECTED_ANSWER_BYTES);
    let after!: Head;
    await records.store.write((batch) => {
      after = grownHead(before, plan, clientId, putPlan(conversations, batch, id, plan));
      records.putHead(batch, place, before, after);
    });
    const turn = runningTurn(conversations, place, after, plan, asked);
    running.set(id, turn);
    return turn.frames();
  });
}

function runningTurn(conversations: Conversations, place: Place, head: Head, plan: Plan, asked: TurnAsked): RunningTurn {
  const { records, running } = conversations.shared;
  const { id } = head;
  const answer = new GrowingAnswer(plan.answer);
  const user = plan.said.find(({ role }) => role === 'user');
  const results = plan.said.filter(({ role }) => role === 'tool');
  const begun: TurnBegun = {
    conversation: shownHead(head),
    ...(user ? { user } : {}),
    ...(results.length > 0 ? { tool_results: results } : {}),
    assistant: { id: plan.answer.message.id, parent: plan.answer.message.parent },
  };
  // An answer that goes on is counted already as far as it was written.
  const countedBytes = plan.isContinued ? sizeOf(plan.answer) : 0;
  return new RunningTurn({
    begun,
    answer,
    signal: asked.signal,
    open: async (signal) => asked.open(await callOf(conversations, place, head, plan, asked), signal),
    save: async (one, isLast) => {
      if (!isLast) {
        // Nothing is written into a conversation that is gone.
        records.head(place, id);
        return records.store.write((batch) => void records.putMessage(batch, id, one));
      }
      await conversations.update(place, id, (now, batch) => {
        const bytes = records.putMessage(batch, id, one) - countedBytes;
        return touchedNow({ ...now, bytes: Math.max(0, now.bytes + bytes) });
      });
    },
    over: () => running.delete(id),
  });
}

async function callOf(
  conversations: Conversations,
  { namespace, project }: Place,
  head: Head,
  plan: Plan,
  { request }: TurnAsked,
): Promise<ChatCall> {
  const { store } = conversations.shared.records;
  const settings = mergeSettings(head.settings, request.settings ?? {});
  const { tools, tool_choice, mcp_context, user } = request;
  const before = plan.isContinued ? [...plan.path, plan.answer] : plan.path;
  return {
    namespace,
    project,
    stateful: false,
    conversation: head.id,
    request: {
      ...requestOf(settings),
      ...{ tools, tool_choice, mcp_context, user },
      ...(plan.isOpen ? { continue_final_message: true } : {}),
      messages: await chatMessages(before, settings, (file) => store.conversationFiles.get([head.id, file])),
      stream: true,
      stream_options: { include_usage: true },
    },
  };
}

/** What came of a turn that was asked before. */
async function* repeatedEvents(conversations: Conversations, head: Head, answer: string): AsyncGenerator<string, void, undefined> {
  const { records, running } = conversations.shared;
  const turn = running.get(head.id);
  const isRunning = turn?.begun.assistant.id === answer;
  const { message } = records.message(head.id, answer);
  const begun: TurnBegun = isRunning ? turn.begun : { conversation: shownHead(head), assistant: { id: answer, parent: message.parent } };
  yield eventFrame('turn', begun);
  yield eventFrame('message', isRunning ? await turn.ended : message) + DONE;
}

/** What a request adds to the tree. */
async function planTurn(conversations: Conversations, head: Head, asked: TurnAsked): Promise<Plan> {
  const { request } = asked;
  const { records } = conversations.shared;
  const { message, regenerate, continue: continued, tool_results: results } = request;
  if ([message, regenerate || undefined, continued, results].filter((one) => one !== undefined).length !== 1)
    throw new Failure('bad_request', 'A turn has exactly one of message, regenerate, continue and tool_results.', { code: 'InvalidTurn' });
  if (head.messages + (results?.length ?? 1) + 1 > MESSAGES_LIMIT || head.bytes > CONVERSATION_BYTES) throw isFull(head);
  if (continued !== undefined) {
    const { message: answer, between } = records.message(head.id, continued);
    if (answer.role !== 'assistant')
      throw new Failure(
        'bad_request',
        `Message ${continued} is a message of the ${answer.role}; only an answer of the assistant can be continued.`,
        { code: 'InvalidTurn' },
      );
    const { usage: _usage, error: _error, finish_reason: _reason, tool_calls: calls, ...begun } = answer;
    const path = await records.path(head.id, answer.parent);
    const isBroken = answer.status !== 'done' || answer.finish_reason === 'length';
    // Calls of the client's tools in which an answer broke off are no use to anybody: the model writes them anew.
    const message: Message = { ...begun, status: 'cut', ...(isBroken || !calls ? {} : { tool_calls: calls }) };
    const isOpen = isBroken || answer.edited === true;
    return { path, said: [], files: [], answer: { message, ...(between ? { between } : {}) }, isContinued: true, isOpen };
  }
  const parent = request.parent === undefined ? head.current : request.parent;
  const path = await records.path(head.id, parent);
  const last = path.at(-1)?.message;
  const { said, files } = saidOf(conversations, head, asked, last);
  const answer = newMessage(head.nextSeq + said.length, said.at(-1)?.id ?? parent, 'assistant', '');
  return {
    path: [...path, ...said.map((one) => ({ message: one }))],
    said,
    files,
    answer: { message: { ...answer, status: 'cut' } },
    isContinued: false,
    isOpen: false,
  };
}

/** The messages that a request brings. */
function saidOf(
  conversations: Conversations,
  head: Head,
  { request, addressOf }: TurnAsked,
  last: Message | undefined,
): { said: Message[]; files: NewFile[] } {
  const { message, tool_results: results } = request;
  const parent = last?.id ?? null;
  if (message) {
    const isKnown = (file: string): boolean => conversations.shared.records.store.conversationFiles.get([head.id, file]) !== undefined;
    const { attachments, files } = takeFiles(message.attachments ?? [], addressOf, isKnown);
    if (message.content.trim() === '' && attachments.length === 0)
      throw new Failure('bad_request', 'The message is empty: write something, or attach a file.', { code: 'EmptyMessage' });
    const user = newMessage(head.nextSeq, parent, 'user', message.content);
    return { said: [{ ...user, ...(attachments.length > 0 ? { attachments } : {}) }], files };
  }
  if (results) {
    const calls = last?.role === 'assistant' ? (last.tool_calls ?? []) : [];
    const wrong = results.find((one) => !calls.some((call) => call.id === one.tool_call_id));
    if (wrong)
      throw new Failure('bad_request', `The answer ${parent} asked for no call ${JSON.stringify(wrong.tool_call_id.slice(0, 80))}.`, {
        code: 'InvalidTurn',
      });
    const said: Message[] = [];
    for (const { tool_call_id, content } of results)
      said.push({ ...newMessage(head.nextSeq + said.length, said.at(-1)?.id ?? parent, 'tool', content), tool_call_id });
    return { said, files: [] };
  }
  if (last?.role !== 'user' && last?.role !== 'tool')
    throw new Failure(
      'bad_request',
      'There is no question to answer again: "parent" must be a message of the user, or a result of a call.',
      {
        code: 'InvalidTurn',
      },
    );
  return { said: [], files: [] };
}

/** Puts what is new; returns its bytes. */
function putPlan({ shared: { records } }: Conversations, batch: Batch, id: string, { said, files, answer, isContinued }: Plan): number {
  const bytes = said.reduce((sum, message) => sum + records.putMessage(batch, id, { message }), putFiles(batch, id, files));
  if (!isContinued) records.putMessage(batch, id, answer);
  return bytes;
}

/** The conversation behind what a turn adds to it. */
function grownHead(
  head: Head,
  { said, answer: { message: answer }, isContinued }: Plan,
  clientId: string | undefined,
  bytes: number,
): Head {
  const question = said.find(({ role }) => role === 'user')?.content.trim();
  const more = said.length + (isContinued ? 0 : 1);
  const turns = clientId === undefined ? head.turns : [...head.turns, [clientId, answer.id] as const].slice(-NAMED_TURNS);
  return touchedNow({
    ...head,
    title: head.title === '' && question ? titleOf(question) : head.title,
    preview: question === undefined ? head.preview : question.slice(0, PREVIEW_CHARACTERS),
    current: answer.id,
    messages: head.messages + more,
    nextSeq: head.nextSeq + more,
    bytes: head.bytes + bytes,
    turns,
  });
}

/** A title made of a question: its first line, or as many words of it as have room. */
export function titleOf(question: string): string {
  const line = question.slice(0, 1_000).split('\n', 1)[0]!.replaceAll(/\s+/g, ' ').trim();
  if (line.length <= TITLE_FROM_QUESTION) return line;
  const cut = line.slice(0, TITLE_FROM_QUESTION);
  const words = cut.slice(0, Math.max(cut.lastIndexOf(' '), TITLE_FROM_QUESTION / 2)).trimEnd();
  return `${words.replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** A message that is complete and came now. */
export function newMessage(seq: number, parent: string | null, role: Message['role'], content: string): Message {
  return { id: messageId(seq), parent, role, content, status: 'done', created_at: new Date().toISOString() };
}

/** The refusal of what has no room in a conversation. */
export function isFull({ messages, bytes }: Head): Failure {
  const what =
    bytes > CONVERSATION_BYTES
      ? `${bytes} bytes, and the most is ${CONVERSATION_BYTES}`
      : `${messages} messages, and the most is ${MESSAGES_LIMIT}`;
  return new Failure('conflict', `This conversation has ${what}. Go on in a branch of it, or in a new one.`, { code: 'ConversationFull' });
}

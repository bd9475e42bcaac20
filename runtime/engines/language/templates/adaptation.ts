import type { Message } from '../../../../schemas/generated/common.js';
import { parsedArguments, type TemplateMessage } from './messages.js';

/** A change that makes a conversation fit a template which refuses it. */
export interface Adaptation {
  /** What is changed, as a sentence of a note. */
  readonly what: string;
  /** Usual for templates that do not mention tools, and then not worth a note. */
  readonly isOfTools?: boolean;
  /** A conversation that shows whether a template needs the change; all its contents are words of their own. */
  readonly probe: readonly Message[];
  /** The changed messages; the same ones where there is nothing to change. */
  apply(messages: readonly TemplateMessage[]): readonly TemplateMessage[];
}

/** What is asked where a template wants the user to speak first, or last. */
const OPENING = 'Begin.';
const CONTINUING = 'Go on.';

const joinTexts = (one: string | null, other: string | null): string => [one, other].filter((text) => text).join('\n\n');

/** Neighbours of one role become one message; results of tools stay apart, each with its id. */
function mergeNeighbours(messages: readonly TemplateMessage[]): readonly TemplateMessage[] {
  const out: TemplateMessage[] = [];
  for (const message of messages) {
    const last = out.at(-1);
    if (last?.role !== message.role || message.role === 'tool') {
      out.push(message);
      continue;
    }
    const calls = [...(last.tool_calls ?? []), ...(message.tool_calls ?? [])];
    out[out.length - 1] = {
      ...last,
      content: joinTexts(last.content, message.content),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    };
  }
  return out.length === messages.length ? messages : out;
}

function systemFolded(messages: readonly TemplateMessage[]): readonly TemplateMessage[] {
  const end = messages.findIndex(({ role }) => role !== 'system');
  const systemMessages = end < 0 ? messages : messages.slice(0, end);
  if (systemMessages.length === 0) return messages;
  const text = systemMessages.reduce((all, { content }) => joinTexts(all, content), '');
  const rest = messages.slice(systemMessages.length);
  const at = rest.findIndex(({ role }) => role === 'user');
  if (at < 0) return [{ role: 'user', content: text }, ...rest];
  return rest.map((message, index) => (index === at ? { ...message, content: joinTexts(text, message.content) } : message));
}

function systemAsUser(messages: readonly TemplateMessage[]): readonly TemplateMessage[] {
  if (!messages.some(({ role }, index) => role === 'system' && index > 0)) return messages;
  return messages.map((message, index) => (message.role === 'system' && index > 0 ? { ...message, role: 'user' } : message));
}

/** A message that may hold calls, in any of the forms that are used here. */
interface WithCalls {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_call_id?: unknown;
  readonly tool_calls?: readonly { readonly function: { readonly name: string; readonly arguments?: unknown } }[] | null;
}

function callText({ function: { name, arguments: given } }: NonNullable<WithCalls['tool_calls']>[number]): string {
  return `<tool_call>${JSON.stringify({ name, arguments: typeof given === 'string' ? parsedArguments(given) : (given ?? {}) })}</tool_call>`;
}

/** Calls become text of the assistant; results that follow each other become one user message. The form is that of prompt-based tools. */
export function toolsAsText<M extends WithCalls>(messages: readonly M[]): readonly M[] {
  if (!messages.some(({ role, tool_calls: calls }) => role === 'tool' || calls)) return messages;
  const out: M[] = [];
  let inResults = false;
  for (const message of messages) {
    const { tool_calls: calls, tool_call_id: _id, ...rest } = message;
    if (message.role !== 'tool') {
      const content = [message.content, ...(calls ?? []).map(callText)].filter((text) => text).join('\n');
      out.push({ ...rest, content } as unknown as M);
    } else {
      const text = `<tool_response>\n${message.content ?? ''}\n</tool_response>`;
      const before = inResults ? out.pop() : undefined;
      out.push({ role: 'user', content: before ? `${before.content}\n${text}` : text } as unknown as M);
    }
    inResults = message.role === 'tool';
  }
  return out;
}

const user = (content: string): Message => ({ role: 'user', content });
const assistant = (content: string): Message => ({ role: 'assistant', content });
const system = (content: string): Message => ({ role: 'system', content });
const CALL = { id: 'call00001', type: 'function' as const, function: { name: 'probing', arguments: '{"probed": "probetwo"}' } };

/** Every change, in the order in which they are tried. */
const ADAPTATIONS: readonly Adaptation[] = [
  {
    what: 'messages of one role in a row become one',
    probe: [user('probeone'), user('probetwo'), assistant('probethree'), assistant('probefour'), user('probefive')],
    apply: mergeNeighbours,
  },
  {
    what: 'the text of the system message goes into the first user message',
    probe: [system('probeone'), user('probetwo')],
    apply: systemFolded,
  },
  {
    what: 'later system messages become user messages',
    probe: [user('probeone'), assistant('probetwo'), system('probethree'), user('probefour')],
    apply: systemAsUser,
  },
  {
    what: 'calls of tools and their results are written as text',
    isOfTools: true,
    probe: [
      user('probeone'),
      { role: 'assistant', content: '', tool_calls: [CALL] },
      { role: 'tool', content: 'probethree', tool_call_id: CALL.id },
    ],
    apply: toolsAsText,
  },
  {
    what: `"${OPENING}" is said before a conversation that begins with an answer`,
    probe: [assistant('probeone'), user('probetwo')],
    apply: (messages) => (messages.find(({ role }) => role !== 'system')?.role === 'assistant' ? withOpening(messages) : messages),
  },
  {
    what: `"${CONTINUING}" is said after an answer that ends the conversation`,
    probe: [user('probeone'), assistant('probetwo')],
    apply: (messages) => (messages.at(-1)?.role === 'assistant' ? [...messages, { role: 'user', content: CONTINUING }] : messages),
  },
];

function withOpening(messages: readonly TemplateMessage[]): readonly TemplateMessage[] {
  const at = messages[0]?.role === 'system' ? 1 : 0;
  return [...messages.slice(0, at), { role: 'user', content: OPENING }, ...messages.slice(at)];
}

/** Applies changes in order; what becomes neighbours is merged where that is one of them. */
const applyAdaptations = (messages: readonly TemplateMessage[], by: readonly Adaptation[]): readonly TemplateMessage[] => {
  const out = by.reduce((now, { apply }) => apply(now), messages);
  return by[0] === ADAPTATIONS[0] ? mergeNeighbours(out) : out;
};

/** Whether all words of a probe came out. */
const isWhole = (probe: readonly Message[], out: string): boolean =>
  JSON.stringify(probe)
    .match(/probe(?:one|two|three|four|five)/g)!
    .every((word) => out.toLowerCase().includes(word));

/** What a renderer of one template is asked. */
export interface Probing {
  /** A probe as the template takes messages. */
  messages(probe: readonly Message[]): readonly TemplateMessage[];
  render(messages: readonly TemplateMessage[]): string;
  /** Whether a failure is a refusal of this conversation, which another form of it may not meet; others are thrown on. */
  isRefusal(error: unknown): boolean;
  /** Whether there is time for further tries. */
  hasTime(): boolean;
}

/** The changes that a template needs: it refuses their probes, or leaves some of their words out, and takes them changed. */
export function neededAdaptations(template: Probing): readonly Adaptation[] {
  const needed: Adaptation[] = [];
  const takes = (probe: readonly Message[], by: readonly Adaptation[]): boolean => {
    try {
      return isWhole(probe, template.render(applyAdaptations(template.messages(probe), by)));
    } catch (error) {
      if (!template.isRefusal(error)) throw error;
      return false;
    }
  };
  for (const adaptation of ADAPTATIONS) {
    if (!template.hasTime()) break;
    const { probe } = adaptation;
    if (!takes(probe, needed) && takes(probe, [...needed, adaptation])) needed.push(adaptation);
  }
  return needed;
}

/** Renders a conversation as it is but for the changes that the template needs; where it is refused nevertheless, with one change more after the other. */
export function renderAdapted(
  messages: readonly TemplateMessage[],
  needed: readonly Adaptation[],
  template: Pick<Probing, 'render' | 'isRefusal'>,
): string {
  let tried = applyAdaptations(messages, needed);
  let refusal: unknown;
  for (let count = 0; count <= ADAPTATIONS.length; count += 1) {
    const next =
      count === 0
        ? tried
        : applyAdaptations(
            messages,
            ADAPTATIONS.filter((one, index) => index < count || needed.includes(one)),
          );
    if (count > 0 && JSON.stringify(next) === JSON.stringify(tried)) continue;
    tried = next;
    try {
      return template.render(tried);
    } catch (error) {
      if (!template.isRefusal(error)) throw error;
      refusal ??= error;
    }
  }
  throw refusal;
}

import { Failure } from '../../schemas/errors.js';
import type { ContentPart, Message } from '../../schemas/generated/common.js';

/** What a model would need for the parts of a message that are no text. */
const NEEDED = {
  image_url: ['image', 'a model that sees images'],
  file: ['file', 'a model that reads files'],
  input_audio: ['audio', 'a speech-to-text model'],
} as const;

/** A message whose content is text, in a role that chat templates know. */
export interface PlainMessage extends Message {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string;
}

function partText(part: ContentPart): string {
  switch (part.type) {
    case 'text':
      return part.text ?? '';
    case 'refusal':
      return part.refusal ?? '';
    default:
      throw unreadable(part.type);
  }
}

function unreadable(type: keyof typeof NEEDED): Failure {
  const [kind, needed] = NEEDED[type];
  return new Failure(
    'bad_request',
    `The message has a part of type ${type}, and ${kind} input needs ${needed}, which this runtime does not have; send the text instead.`,
    { code: `${kind}_input_unavailable` },
  );
}

/** The text of a message's content. Images, files and audio are a `Failure('bad_request')`: an answer would invent what is in them. */
function contentText(content: Message['content']): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map(partText).join('\n') : '';
}

/** Messages as templates take them: text content, `developer` as `system`, `function` as `tool`. The input stays as it is. */
export function plainMessages(messages: readonly Message[]): PlainMessage[] {
  return messages.map((message) => {
    const role = message.role === 'developer' ? 'system' : message.role === 'function' ? 'tool' : message.role;
    return { ...message, role, content: contentText(message.content) };
  });
}

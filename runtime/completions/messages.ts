import { Failure } from '../../schemas/errors.js';
import type { ContentPart, Message } from '../../schemas/generated/common.js';

/** What a model without eyes is told in place of an image. */
const IMAGE_PLACEHOLDER = '[image: this model cannot see images]';
const FILE_PLACEHOLDER = '[file: attached files are not read]';

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
    case 'image_url':
      return IMAGE_PLACEHOLDER;
    case 'file':
      return FILE_PLACEHOLDER;
    case 'input_audio':
      throw new Failure(
        'bad_request',
        'The message has an input_audio part, and audio input needs a speech-to-text model, which this runtime does not have; send the text instead.',
        {
          code: 'audio_input_unavailable',
        },
      );
  }
}

/** The text of a message's content; images and files become a short note. Audio is a `Failure('bad_request')`. */
export function contentText(content: Message['content']): string {
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

import type { OutboundReply } from '../../runtime/net/reply.js';

/** The `data` of each server-sent event of a daemon's answer; comments and empty events are passed over. */
export async function* eventDataOf(reply: OutboundReply): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of reply.chunks()) {
    text += decoder.decode(chunk, { stream: true });
    const frames = text.split('\n\n');
    text = frames.pop() ?? '';
    for (const frame of frames) {
      const data = frame.split('\n').flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trimStart()] : []));
      if (data.length > 0 && data.some((line) => line !== '')) yield data.join('\n');
    }
  }
}

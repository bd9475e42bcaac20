import { delta, frames, type Scene, type Seen, say, usage } from '../scripted-openai.js';

interface Asked {
  messages: { role: string; content: string | { type: string; text?: string }[] | null }[];
  tools?: { function: { name: string } }[];
}

/** What a model writes that a page must show well and must not trust. */
export const MARKDOWN = `## A heading

Some **bold** text, \`code\`, a [link](https://example.org/a) and a formula $a^2 + b^2 = c^2$; it costs $5 or $10.

| Name | Number |
| --- | --: |
| one | 1 |
| two | 2 |

$$\\int_0^1 x\\,dx = \\tfrac{1}{2}$$

\`\`\`python
def greet(name: str) -> str:
    return f"Hello, {name}"
\`\`\`

\`\`\`mermaid
graph TD; A-->B;
\`\`\`

- first
- second

A generic List<T>, a picture ![from elsewhere](https://example.org/p.png), a <script>window.hacked = true</script> and a [bad link](javascript:alert(1)).
`;

const textOf = (content: Asked['messages'][number]['content']): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join(' ');

/** A model that answers by what the last question says: `markdown`, `slowly`, `think`, `echo` (a tool of the server), `break`, or how many words it had. */
export function chatHost({ body }: Seen): Scene {
  const { messages, tools = [] } = body as Asked;
  const asked = textOf(messages.findLast(({ role }) => role === 'user')?.content ?? '');
  const last = messages.at(-1)!;
  if (last.role === 'tool') return say(`The tool said: ${textOf(last.content)}`);
  if (asked.includes('markdown')) return say(...(MARKDOWN.match(/[\s\S]{1,12}/g) ?? []));
  if (asked.includes('slowly'))
    return { steps: [...frames(delta({ content: 'It begins' })), { waitMs: 300 }, ...frames(delta({ content: ' and goes on' })), 'hang'] };
  if (asked.includes('break')) return { steps: [...frames(delta({ content: 'It begins' })), { waitMs: 100 }, 'reset'] };
  if (asked.includes('think'))
    return {
      steps: frames(delta({ reasoning_content: 'Let me count.' }), delta({ content: 'Four.' }), delta({}, 'stop'), usage(9, 2), '[DONE]'),
    };
  if (asked.includes('echo')) {
    const name = tools.find((one) => one.function.name.includes('echo'))?.function.name ?? 'echo';
    const call = { index: 0, id: 'call_1', function: { name, arguments: JSON.stringify({ message: 'Hi there' }) } };
    return { steps: frames(delta({ tool_calls: [call] }), delta({}, 'tool_calls'), usage(10, 5), '[DONE]') };
  }
  return say('The question ', 'had ', `${asked.split(/\s+/).length} words.`);
}

import { Failure } from '../../schemas/errors.js';
import type { Message, ToolCall } from '../../schemas/generated/common.js';
import type { CompletionPart } from '../providers/contract.js';

type Finish = Extract<CompletionPart, { type: 'finish' }>;

/** Collects what a turn's answer becomes in the history. */
class AnswerRecorder {
  #text = '';
  readonly #calls: (ToolCall & { id: string; function: { name: string; arguments: string } })[] = [];
  /** Whether the model has said anything, thinking included. */
  empty = true;

  /** Takes the next part. */
  take(part: CompletionPart): void {
    if (part.type === 'finish' || part.type === 'progress') return;
    this.empty = false;
    if (part.type === 'text') this.#text += part.text;
    if (part.type !== 'tool_call') return;
    this.#calls[part.index] ??= { id: '', type: 'function', function: { name: '', arguments: '' } };
    const call = this.#calls[part.index]!;
    if (part.id) call.id = part.id;
    if (part.name) call.function.name = part.name;
    if (part.arguments) call.function.arguments += part.arguments;
  }

  /** The assistant's message; thinking is not part of it. */
  message(): Message {
    const calls = this.#calls.filter((call) => call !== undefined && isWhole(call.function.arguments));
    if (calls.length === 0) return { role: 'assistant', content: this.#text };
    return { role: 'assistant', content: this.#text.trim() === '' ? null : this.#text, tool_calls: calls };
  }
}

/** Whether arguments are complete; those of a call that broke off would fail every later turn of the session. */
function isWhole(text: string): boolean {
  if (text.trim() === '') return true;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** What `recorded` does at the ends of a turn. */
interface TurnEnds {
  /** Said in place of an answer that is empty; absent = the answer stays empty. */
  emptyText?: string | undefined;
  /** Called with the assistant's message when the answer is complete, before its last part goes out. */
  complete(message: Message): Promise<void>;
  /** Called in every case, last. */
  close(): void;
}

/**
 * Passes an answer on and reports it when it is complete; of several choices the first, whose finish then comes last. Whoever leaves early, and an
 * answer that breaks off, leave nothing behind. Throws `model_failed` when the parts end without a finish.
 */
export async function* recorded(parts: AsyncIterable<CompletionPart>, ends: TurnEnds): AsyncGenerator<CompletionPart, void, undefined> {
  const recorders: AnswerRecorder[] = [];
  let finish: Finish | undefined;
  try {
    for await (const part of parts) {
      const { choice = 0 } = part;
      recorders[choice] ??= new AnswerRecorder();
      const recorder = recorders[choice];
      recorder.take(part);
      if (part.type === 'finish' && part.reason === 'stop' && recorder.empty && ends.emptyText !== undefined) {
        const text: CompletionPart = { type: 'text', text: ends.emptyText, ...(choice === 0 ? {} : { choice }) };
        recorder.take(text);
        yield text;
      }
      if (part.type === 'finish' && choice === 0) finish = part;
      else yield part;
    }
    if (!finish) throw new Failure('model_failed', 'The model broke off its answer without finishing it. Try again.');
    await ends.complete(recorders[0]!.message());
    yield finish;
  } finally {
    ends.close();
  }
}

import type { Completion, CompletionPart } from '../completions/contract.js';

/** Text that belongs to an answer and is not the model's: what stands before it and behind it. Empty text adds nothing. */
export interface AnswerFrame {
  readonly before: string;
  readonly after: string;
}

/** A completion with its frame; of several choices the first gets it. */
export function framed(completion: Pick<Completion, 'parts' | 'contextUsage'>, frame: AnswerFrame): typeof completion {
  return {
    // Other runtimes say it with the finish.
    get contextUsage() {
      return completion.contextUsage!;
    },
    parts: framedParts(completion.parts, frame),
  };
}

async function* framedParts(
  parts: AsyncIterable<CompletionPart>,
  { before, after }: AnswerFrame,
): AsyncGenerator<CompletionPart, void, undefined> {
  let begun = false;
  for await (const part of parts) {
    const isFirst = (part.choice ?? 0) === 0;
    if (isFirst && !begun && part.type !== 'progress') {
      begun = true;
      if (before !== '') yield { type: 'text', text: before };
    }
    if (isFirst && part.type === 'finish' && after !== '') yield { type: 'text', text: after };
    yield part;
  }
}

import type { Completion, CompletionPart } from './contract.js';

/** Is told how many tokens were read and written; several numbers add up. */
export type Spent = (tokens: number) => void;

/** A completion that tells at its end, be it whole or not, what it has cost. */
export function spending(completion: Completion, spent: Spent): Completion {
  return {
    model: completion.model,
    // Other runtimes say it with the finish.
    get contextUsage() {
      return completion.contextUsage!;
    },
    ...(completion.loadMs === undefined ? {} : { loadMs: completion.loadMs }),
    parts: counted(completion, spent),
  };
}

/** What the model has counted of each answer that it finished; of one that broke off the prompt, and a token for each part. */
async function* counted(completion: Completion, spent: Spent): AsyncGenerator<CompletionPart, void, undefined> {
  let prompt = 0;
  let written = 0;
  const open = new Map<number, number>();
  try {
    for await (const part of completion.parts) {
      const { choice = 0 } = part;
      if (part.type === 'finish') {
        prompt = Math.max(prompt, part.usage.prompt_tokens);
        written += part.usage.completion_tokens;
        open.delete(choice);
      } else if (part.type !== 'event' && part.type !== 'progress') open.set(choice, (open.get(choice) ?? 0) + 1);
      yield part;
    }
  } finally {
    for (const parts of open.values()) written += parts;
    spent(Math.max(prompt, completion.contextUsage?.prompt_tokens ?? 0) + written);
  }
}

import { type AnswerCheck, notMet } from './answer-check.js';
import { Collector, type CompletionPart } from './contract.js';

/** The parts of one answer, read once. */
export type CompletionParts = AsyncGenerator<CompletionPart, void, undefined>;

/** What was generated for nothing. */
interface Tries {
  readonly count: number;
  readonly tokens: number;
}

/**
 * The parts of an answer, which is checked when it is finished. `again` makes another one, once, where the first breaks a strict schema; the parts
 * of the first are then held back until it is known to fit. Without it they pass as they come, and an answer that breaks a strict schema ends in
 * `Failure('model_failed')` (schema_not_met). What is not strict is noted with the finish. An answer that ran out of tokens is not checked.
 */
export async function* checkedParts(
  parts: CompletionParts,
  check: AnswerCheck,
  again?: () => Promise<CompletionParts>,
  before: Tries = { count: 0, tokens: 0 },
): CompletionParts {
  const answer = new Collector();
  const held: CompletionPart[] = [];
  for await (const part of parts) {
    answer.add(part);
    if (part.type !== 'finish') {
      if (again && check.strict && part.type !== 'progress') held.push(part);
      else yield part;
      continue;
    }
    const { flaw, notes } = part.reason === 'length' ? { notes: [] } : check.verdict(answer.collected);
    if (flaw === undefined) {
      yield* held;
      yield finished(part, before.tokens, notes);
      continue;
    }
    const tries = { count: before.count + 1, tokens: before.tokens + part.usage.completion_tokens };
    if (!again) throw notMet(flaw, tries.count);
    // Inside the loop, since its end gives the model back.
    yield* checkedParts(await again(), check, undefined, tries);
    return;
  }
}

function finished(part: CompletionPart & { type: 'finish' }, tokens: number, notes: readonly string[]): CompletionPart {
  const { usage } = part;
  const counted = { ...usage, completion_tokens: usage.completion_tokens + tokens, total_tokens: usage.total_tokens + tokens };
  return { ...part, usage: counted, ...(notes.length > 0 ? { schemaNotes: notes } : {}) };
}

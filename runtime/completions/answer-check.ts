import { Failure } from '../../schemas/errors.js';
import { Collector } from './collect.js';
import type { CollectedCompletion, CompletionPart } from './contract.js';
import { SchemaChecker } from './schema/check.js';
import { SchemaDocument } from './schema/document.js';
import { WorkLimit } from './work-limit.js';

/** Most work that the check of one answer may take: some 30 ms. */
const MAX_WORK = 60_000;

/** A schema of the answer, or of the arguments of a tool, with what the grammar does not hold. */
export interface HeldSchema {
  /** What it is the schema of, as the subject of a sentence. */
  readonly subject: string;
  readonly schema: unknown;
  /** True = an answer that breaks it is a failure. */
  readonly strict: boolean;
  /** What only the finished text can show to be kept, each as a phrase. */
  readonly left: readonly string[];
  /** What is neither held nor checked, each as a phrase. */
  readonly ignored: readonly string[];
}

/** What a check found in a finished answer. */
interface Verdict {
  /** Why the answer does not fit a schema that is strict, as a sentence without its end. */
  readonly flaw?: string;
  /** Whole sentences for the caller. */
  readonly notes: readonly string[];
}

/** Checks a finished answer against what its grammar could not hold. */
export class AnswerCheck {
  /** `answer` is absent where the text is free; `tools` has the tools whose schemas are not held wholly, by name. */
  constructor(
    readonly answer: HeldSchema | undefined,
    readonly tools: ReadonlyMap<string, HeldSchema>,
  ) {}

  /** True when an answer can fail. */
  get strict(): boolean {
    return [this.answer, ...this.tools.values()].some((held) => held?.strict && held.left.length > 0);
  }

  /** The verdict on an answer that ended by itself. */
  verdict({ text, toolCalls }: Pick<CollectedCompletion, 'text' | 'toolCalls'>): Verdict {
    const parts = toolCalls.flatMap((call) => {
      const held = this.tools.get(call.function.name);
      return held ? [{ held, text: call.function.arguments }] : [];
    });
    if (this.answer && toolCalls.length === 0) parts.push({ held: this.answer, text });
    const notes = new Set<string>();
    for (const { held, text: json } of parts) {
      const flaw = held.left.length > 0 ? flawOf(held, json) : undefined;
      if (flaw !== undefined && held.strict) return { flaw, notes: [] };
      for (const phrase of held.ignored) notes.add(`${held.subject}: ${phrase} is neither held nor checked.`);
      for (const phrase of held.strict ? [] : held.left)
        notes.add(`${held.subject}: ${phrase} is not held while the answer is written; the finished text is checked.`);
      if (flaw !== undefined) notes.add(`${flaw}.`);
    }
    return { notes: [...notes] };
  }
}

/** Why a text does not fit its schema; undefined for one that fits, and for a text that is no JSON, as one that a stop text ended. */
function flawOf({ subject, schema }: HeldSchema, text: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return flawOfValue(subject, schema, value);
}

/** Why a value does not fit a schema, as a sentence without its end about `subject`; undefined for one that fits. */
export function flawOfValue(subject: string, schema: unknown, value: unknown): string | undefined {
  try {
    const flaw = new SchemaChecker(new SchemaDocument(schema, new WorkLimit(MAX_WORK))).flawOf(value);
    return flaw === null ? undefined : `${subject} does not fit its schema: ${flaw}`;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return `${subject} could not be checked against its schema, which takes too much work`;
  }
}

/** The code of `notMet`. */
export const SCHEMA_NOT_MET = 'schema_not_met';

/** The failure of an answer that does not fit a strict schema. */
function notMet(flaw: string, tries: number): Failure {
  const after = tries > 1 ? `, after ${tries} tries` : '';
  return new Failure('model_failed', `${flaw}${after}. Ask again, simplify the schema, or send strict: false.`, { code: SCHEMA_NOT_MET });
}

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

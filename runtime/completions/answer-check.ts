import { Failure } from '../../schemas/errors.js';
import type { CollectedCompletion } from './contract.js';
import { SchemaChecker } from './schema/check.js';
import { SchemaDocument } from './schema/document.js';
import { Work } from './schema/work.js';

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
  try {
    const flaw = new SchemaChecker(new SchemaDocument(schema, new Work(MAX_WORK))).flawOf(value);
    return flaw === null ? undefined : `${subject} does not fit its schema: ${flaw}`;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return `${subject} could not be checked against its schema, which takes too much work`;
  }
}

/** The code of `notMet`. */
export const SCHEMA_NOT_MET = 'schema_not_met';

/** The failure of an answer that does not fit a strict schema. */
export function notMet(flaw: string, tries: number): Failure {
  const after = tries > 1 ? `, after ${tries} tries` : '';
  return new Failure('model_failed', `${flaw}${after}. Ask again, simplify the schema, or send strict: false.`, { code: SCHEMA_NOT_MET });
}

import { Failure } from '../../../../schemas/errors.js';
import { log } from '../../../base/log.js';
import type { RetrievalMeans } from '../contract.js';

/** Tokens that a model may spend on one line. */
const TOKENS_PER_LINE = 60;
const LONGEST_LINE = 1000;

/** The lines of a model's answer as questions: without numbers, bullets and quotes, each once. */
export function linesOfAnswer(answer: string, count: number): string[] {
  const lines = answer
    .split('\n')
    .map((line) =>
      line
        .replace(/^\s*(?:[-*•]|\(?\d{1,2}[.):])\s*/, '')
        .replace(/^["'“”]|["'“”]$/g, '')
        .trim(),
    )
    .filter((line) => line !== '' && line.length <= LONGEST_LINE && !line.endsWith(':'));
  return [...new Set(lines)].slice(0, count);
}

/**
 * Questions that a chat model writes to an instruction, at most `count`; none where the model is not available, so that rules take over. A
 * model that the project does not know is thrown, and so is the abort.
 */
export async function writtenBy(
  model: string,
  instruction: string,
  count: number,
  means: RetrievalMeans,
  signal: AbortSignal,
): Promise<string[]> {
  try {
    return linesOfAnswer(await means.complete(model, instruction, count * TOKENS_PER_LINE), count);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Failure && error.kind === 'not_found') throw error;
    log('warn', 'a model that rewrites questions failed; rules rewrite them instead', { model, error });
    return [];
  }
}

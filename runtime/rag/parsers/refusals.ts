import { Failure } from '../../../schemas/errors.js';
import type { ParseLimits, SourceFile } from './contract.js';

/** The refusal of a file whose format is right and whose content is not. */
export function damaged(file: SourceFile, why: string, cause?: unknown): Failure {
  return new Failure('invalid', `${file.name} is damaged: ${why}.`, { code: 'damaged', cause });
}

/** The refusal of a file that asks for a password. */
export function locked(file: SourceFile): Failure {
  return new Failure('invalid', `${file.name} is protected with a password; save it without one.`, { code: 'password_protected' });
}

/** Throws when a file has more pages than are read from one. */
export function checkPages(file: SourceFile, pages: number, limits: ParseLimits): void {
  if (pages > limits.pages)
    throw new Failure('invalid', `${file.name} has ${pages} pages; at most ${limits.pages} are read. Split it.`, {
      code: 'too_many_pages',
    });
}

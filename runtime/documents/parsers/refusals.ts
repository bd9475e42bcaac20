import { Failure } from '../../../schemas/errors.js';
import type { ParseLimits, SourceFile } from './contract.js';

/** The refusal of a file whose format is right and whose content is not. */
export function damaged(file: Pick<SourceFile, 'name'>, why: string, cause?: unknown): Failure {
  return new Failure('invalid', `${file.name} is damaged: ${why}.`, { code: 'damaged', cause });
}

/** The refusal of a file that asks for a password. */
export function locked(file: SourceFile): Failure {
  return new Failure('invalid', `${file.name} is protected with a password; save it without one.`, { code: 'password_protected' });
}

/** The refusal of a file in a format that no parser reads; `remedy` says what to do instead. */
export function unreadFormat(file: SourceFile, label: string, remedy: string): Failure {
  return new Failure('invalid', `${file.name} is ${label}, which no parser reads${remedy === '' ? '' : `; ${remedy}`}.`, {
    code: 'unread_format',
  });
}

/** Throws when a file has more pages than are read from one. */
export function checkPages(file: SourceFile, pages: number, limits: ParseLimits): void {
  if (pages > limits.pages)
    throw new Failure('invalid', `${file.name} has ${pages} pages; at most ${limits.pages} are read. Split it.`, {
      code: 'too_many_pages',
    });
}

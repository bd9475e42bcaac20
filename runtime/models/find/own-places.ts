import { AsyncLocalStorage } from 'node:async_hooks';
import { resolve } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { isInside } from '../../base/files.js';

/** Whether who runs the machine has named a path, for work that is bound; undefined for other work. */
const bound = new AsyncLocalStorage<((path: string) => boolean) | undefined>();

/**
 * Does work for somebody who does not run the machine: an absolute path may name a model in the places of models and no other file, but for those that
 * `isNamed` by who does.
 */
export const withinModelPlaces = <T>(work: () => T, isNamed: (path: string) => boolean = () => false): T => bound.run(isNamed, work);

/** Does work for who runs the machine, whoever's request it begins in. */
export const unbound = <T>(work: () => T): T => bound.run(undefined, work);

/** Throws `forbidden` for an absolute path outside of these folders where the work is bound to them, whether something lies there or not. */
export function requireOwnPlace(path: string, folders: readonly string[]): void {
  const isNamed = bound.getStore();
  if (!isNamed || isNamed(path)) return;
  const whole = resolve(path);
  if (folders.some((folder) => isInside(resolve(folder), whole))) return;
  throw new Failure(
    'forbidden',
    `The path ${path} is outside the models folder and the model cache of this machine; name a model there, or ask those who run this machine to put it there.`,
    { code: 'PathRefused' },
  );
}

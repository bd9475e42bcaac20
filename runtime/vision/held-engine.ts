import { Failure } from '../../schemas/errors.js';
import type { Held } from '../models/residency/models.js';

/**
 * Works with a held engine. One that finds at work that its own files are wrong (`invalid`; a picture at fault is `bad_request`) is let go, so that the next
 * request loads them anew: by then they may be mended.
 */
export async function withEngine<E, T>({ engine, discard }: Held<E>, work: (engine: E) => Promise<T>): Promise<T> {
  try {
    return await work(engine);
  } catch (error) {
    if (error instanceof Failure && error.kind === 'invalid') discard();
    throw error;
  }
}

import { Failure, type FailureKind, STATUS_OF_KIND } from '../schemas/errors.js';

/** Our class for what the C++ code threw; anything else, such as a throwing getter of an argument, passes unchanged. */
export function asFailure(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== 'Failure' || error instanceof Failure) return error;
  const kind = (error as Error & { kind?: string }).kind;
  const known = kind !== undefined && Object.hasOwn(STATUS_OF_KIND, kind);
  return new Failure(known ? (kind as FailureKind) : 'internal', error.message, { cause: error });
}

/** The answer of a native call, with our failures. */
export function raised<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw asFailure(error);
  }
}

/** The same for a call that answers later. */
export async function settled<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw asFailure(error);
  }
}

import { Failure } from '../../schemas/errors.js';

/** How a model of the hub gets onto this machine, as part of a sentence: by the command, and by the request for those who have no command line. */
export function howToFetch(id: string): string {
  return `run "quern pull ${id}" or send POST /v1/models/download with ${JSON.stringify({ model_name: id })} to the core API`;
}

/** What is not here, and how it gets here. */
interface Missing {
  /** A clause, such as `it is not on this machine; looked in ...`. */
  readonly why: string;
  /** What to do, each a clause; the first that works is enough. */
  readonly remedies: readonly string[];
  readonly code?: string;
  readonly lookedIn?: readonly string[];
}

/** The failure for a model that is not on this machine, or not whole: `not_found`, whoever needs it. */
export function modelMissing(name: string, { why, remedies, code = 'ModelNotFound', lookedIn }: Missing): Failure {
  const remedy = remedies.join(', or ');
  const message = `Model "${name}" not found: ${why}. ${remedy.charAt(0).toUpperCase()}${remedy.slice(1)}.`;
  return new Failure('not_found', message, { code, fields: { model: name, ...(lookedIn ? { looked_in: lookedIn } : {}) } });
}

import { Failure } from '../../schemas/errors.js';

/** What a client may choose as the id of a session. */
const ALLOWED = /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/;

/** Returns a session id, or throws `invalid` with `where` as the place of the wrong value. */
export function checkSessionId(id: string, where: readonly string[]): string {
  if (ALLOWED.test(id)) return id;
  const msg =
    'a session id starts with a letter or digit, goes on with letters, digits, ".", "_", ":", "@" and "-", and has at most 128 characters';
  const input = id.slice(0, 200);
  throw new Failure('invalid', `${where.join('.')}: ${msg}, got ${JSON.stringify(input)}`, {
    errors: [{ type: 'string_pattern_mismatch', loc: where, msg, input }],
  });
}

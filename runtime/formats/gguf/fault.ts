import { Failure } from '../../../schemas/errors.js';

/** Characters of a value from a file that a message repeats. */
const SHOWN = 80;

/** A value as a message shows it. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text;
}

/** What helps where a file is damaged. */
const AGAIN = 'Get the file again from its source.';

/** The 422 of a model file that cannot be used: names the file, the field, its value and what is allowed, and what to do. */
export function fileFault(file: string, field: string, value: unknown, allowed: string, remedy = AGAIN): Failure {
  const msg = `${field} is ${shown(value)}; ${allowed}`;
  return new Failure('invalid', `${file} is not a usable GGUF file: ${msg}. ${remedy}`, {
    code: 'InvalidModelFile',
    errors: [{ type: 'gguf', loc: ['file', field], msg, input: typeof value === 'bigint' ? String(value) : value }],
  });
}

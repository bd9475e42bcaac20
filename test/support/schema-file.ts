import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A schema file as it stands in the source tree. */
export function schemaFile(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(import.meta.dirname, '../../../schemas', path), 'utf8')) as Record<string, unknown>;
}

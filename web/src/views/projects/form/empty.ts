import { kindOf, memberOf, type Schema } from '../schema';

/** What a setting begins with when it is added: its usual value, the first choice, or something empty. */
export function emptyOf(schema: Schema): unknown {
  if (schema.default !== undefined) return schema.default;
  const kind = kindOf(schema);
  if (kind === 'choice') return schema.enum![0];
  if (kind === 'switch') return true;
  if (kind === 'number') return schema.minimum ?? 0;
  if (kind === 'words' || kind === 'list') return [];
  if (kind === 'text') return '';
  const required = schema.required ?? [];
  return Object.fromEntries(required.map((name) => [name, emptyOf(memberOf(schema, name))]));
}

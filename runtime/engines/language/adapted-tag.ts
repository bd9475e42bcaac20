import { createHash } from 'node:crypto';
import type { AdapterUse } from '../contracts/language.js';

/** The tag of KV states of texts that are made with these adapters: 16 hex digits, the model's own without any. */
export function adaptedTag(tag: string, adapters: readonly AdapterUse[]): string {
  if (adapters.length === 0) return tag;
  const facts = adapters.map(({ file, stamp, scale }) => [file, stamp, scale].join('\0')).sort();
  return createHash('sha256')
    .update(JSON.stringify([tag, facts]))
    .digest('hex')
    .slice(0, 16);
}

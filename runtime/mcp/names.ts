import { createHash } from 'node:crypto';

const MAX_NAME_CHARACTERS = 64;
const SEPARATOR = '__';
const HASH_CHARACTERS = 8;

/**
 * What a model calls a tool of a server: `server__tool` where that says which one is meant, else as much of it as fits with a hash of both
 * names. It depends on nothing else, so that it stays the same whatever other tools there are. At most 64 of `[A-Za-z0-9_-]`.
 */
export function toolName(server: string, tool: string): string {
  const plain = `${server}${SEPARATOR}${tool}`;
  const isClear = /^[A-Za-z0-9_-]{1,64}$/.test(plain) && plain.indexOf(SEPARATOR) === server.length && !tool.startsWith('_');
  if (isClear) return plain;
  const hash = createHash('sha256')
    .update(JSON.stringify([server, tool]))
    .digest('hex')
    .slice(0, HASH_CHARACTERS);
  const words = plain.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, MAX_NAME_CHARACTERS - HASH_CHARACTERS - 1);
  return `${words}_${hash}`;
}

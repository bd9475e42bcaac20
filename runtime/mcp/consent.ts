import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import type { McpServer } from '../../schemas/generated/config/project.js';
import { fileFailure, flushDirectory, replaceText } from '../base/durable-files.js';
import { canonicalJson } from '../base/json.js';
import { log } from '../base/log.js';
import { breathe } from '../base/loop.js';

/** Beside the project file: which of its servers nobody with rights on this machine has agreed to. */
export const CONSENT_FILE = '.mcp-unapproved.json';
/** Servers that are remembered; of those that the project has no more, the oldest are forgotten first. */
const MAX_REMEMBERED = 1_024;
const FINGERPRINT = /^[0-9a-f]{64}$/;

/** What a server is, in 64 hex digits: all its settings, so that any change of them makes it another one. */
export function fingerprintOf(server: McpServer): string {
  return createHash('sha256').update(canonicalJson(server)).digest('hex');
}

/** The servers of a project that may not run: those that came over HTTP and nobody has approved since. */
interface Unapproved {
  has(fingerprint: string): boolean;
}

/** Nothing can be said for any server where the list cannot be read. */
const ALL: Unapproved = { has: () => true };

/** Who may not run in a project's directory. A list that cannot be read refuses everybody. */
export async function readUnapproved(directory: string): Promise<Unapproved> {
  const found = await readList(directory);
  return found === undefined ? ALL : new Set(found);
}

/** The text of the list for a project that is made over HTTP; undefined where it has no servers. */
export async function consentText(servers: readonly McpServer[]): Promise<string | undefined> {
  return servers.length > 0 ? listText([...(await fingerprintsOf(servers))]) : undefined;
}

async function fingerprintsOf(servers: readonly McpServer[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (const server of servers) {
    found.add(fingerprintOf(server));
    await breathe();
  }
  return found;
}

/**
 * Notes what a request is about to write into a project file: each server that is not there yet may not run. To be awaited before the file is
 * written, so that no crash leaves a server without its note. `before` are the servers of the present file.
 */
export async function noteWritten(directory: string, before: readonly McpServer[], written: readonly McpServer[]): Promise<void> {
  const known = await fingerprintsOf(before);
  const kept = await fingerprintsOf(written);
  const added = [...kept].filter((fingerprint) => !known.has(fingerprint));
  if (added.length === 0 || (await readList(directory)) === undefined) return;
  await change(directory, (list) => {
    const all = [...new Set([...list, ...added])];
    const old = all.filter((fingerprint) => !kept.has(fingerprint));
    const forgotten = new Set(old.slice(0, Math.max(0, all.length - MAX_REMEMBERED)));
    return all.filter((fingerprint) => !forgotten.has(fingerprint));
  });
}

/** Lets a server run, or forbids it. Resolves when that is on disk. */
export function setApproved(directory: string, server: McpServer, isApproved: boolean): Promise<void> {
  const fingerprint = fingerprintOf(server);
  return change(directory, (list) => {
    const others = list.filter((one) => one !== fingerprint);
    return isApproved ? others : [...others, fingerprint];
  });
}

let last: Promise<unknown> = Promise.resolve();

/** Changes the list, one change after the other. Throws `conflict` for one that cannot be read, which stays since it refuses everybody. */
function change(directory: string, edit: (list: readonly string[]) => readonly string[]): Promise<void> {
  const changed = last.then(async () => {
    const list = await readList(directory);
    if (!list) {
      const message = `${CONSENT_FILE} in the project's directory cannot be read, so that nothing can be approved. Remove that file to allow all servers of the project.`;
      throw new Failure('conflict', message, { code: 'ConsentUnreadable' });
    }
    await write(directory, listText(edit(list)));
  });
  last = changed.catch(() => undefined);
  return changed;
}

async function readList(directory: string): Promise<string[] | undefined> {
  try {
    const { unapproved } = JSON.parse(await readFile(join(directory, CONSENT_FILE), 'utf8')) as { unapproved?: unknown };
    if (Array.isArray(unapproved) && unapproved.every((one) => typeof one === 'string' && FINGERPRINT.test(one))) return unapproved;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
  }
  log('warn', `${CONSENT_FILE} in ${directory} cannot be read, so that no tool server of this project starts; remove it to allow them all`);
  return undefined;
}

const listText = (unapproved: readonly string[]): string => `${JSON.stringify({ unapproved }, null, 2)}\n`;

async function write(directory: string, text: string): Promise<void> {
  try {
    await replaceText(join(directory, CONSENT_FILE), text);
    await flushDirectory(directory);
  } catch (cause) {
    throw fileFailure(cause, 'note which tool servers may run');
  }
}

// What the tables of test/api/classifiers share: texts to learn from, the stage, and requests to one port.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Models } from '../../../runtime/models/residency/models.js';
import { Outbound } from '../../../runtime/net/outbound.js';
import type { Runtime } from '../../../runtime/runtime.js';
import { writeTinyEncoders } from '../models/tiny-encoders.js';
import type { Scenario } from '../scenario.js';
import { openSomeServices } from '../services.js';
import { textSet } from './sets.js';

export interface Staged extends Runtime {
  readonly folder: string;
}

/** A runtime with nothing but encoders and classifiers, in an own data directory. */
export function open(): Staged {
  const folder = mkdtempSync(join(tmpdir(), 'quern-classifiers-'));
  writeTinyEncoders(join(folder, 'models'));
  const models = new Models({ dataDir: folder, places: { hub: join(folder, 'no-hub') } });
  const outbound = new Outbound();
  const { close: closeServices, ...services } = openSomeServices({ dataDir: folder, models, outbound });
  const close = async (): Promise<void> => {
    await closeServices();
    await models.close();
    await outbound.close();
  };
  return { version: '0.0.0', folder, models, ...services, close } as unknown as Staged;
}

export async function closed(runtime: Staged): Promise<void> {
  await runtime.close();
  rmSync(runtime.folder, { recursive: true, force: true });
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
export type Body = any;

export const { train, heldOut } = textSet('intents');
export const { train: few } = textSet('intents', 2);
export const LABELS = ['book_table', 'play_music', 'set_alarm', 'transfer_money', 'weather'];
export const TWO = [
  { text: 'tea is hot', label: 'drink' },
  { text: 'bread is fresh', label: 'food' },
];
export const lines = (path: string): string[] => readFileSync(join(path, 'labels.txt'), 'utf8').trimEnd().split('\n');

/** The rows of one port; both serve the same under other paths. */
export const requests = (root: string) => {
  const post = (path: string, body: unknown, more: Partial<Scenario> = {}): Scenario => ({
    name: `${path} ${more.status ?? 200} ${JSON.stringify(body).slice(0, 90)}`,
    method: 'POST',
    path: `${root}/${path}`,
    body,
    ...more,
  });
  const refused = (path: string, body: unknown, status: number, contains: readonly string[], name?: string): Scenario =>
    post(path, body, { status, contains, lacks: ['/home/', 'node:internal'], ...(name ? { name } : {}) });
  const fit = (data: unknown, more: object = {}): object => ({ model: 'x', training_data: data, ...more });
  const remove = (name: string, status: number, contains: readonly string[]): Scenario => ({
    name: `DELETE ${name} ${status}`,
    method: 'DELETE',
    path: `${root}/models/${encodeURIComponent(name)}`,
    status,
    contains,
  });
  const seen: { version?: string; first?: Body } = {};
  return { post, refused, fit, remove, seen };
};

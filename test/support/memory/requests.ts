// What the tables of test/api/memory share: projects with stores, and requests.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setLogLevel } from '../../../runtime/base/log.js';
import { writeProject } from '../dataset-stage.js';
import type { Scenario } from '../scenario.js';

setLogLevel('error');
export const dataDir = mkdtempSync(join(tmpdir(), 'quern-api-memory-'));
const HEAD = 'version: v1\nruntime: {models: []}\n';
const ALL = '{working_memory: {}, timeseries: {}, spatial: {}, graph: {}, name: ';
writeProject(
  dataDir,
  'ns',
  'p',
  `${HEAD}memory: {default_store: main, stores: [${ALL}other}, ${ALL}main}, {name: small, working_memory: {max_records: 2}, graph: {enabled: false}}]}\n`,
);
writeProject(dataDir, 'ns', 'cells', `${HEAD}memory: {stores: [{name: cells, spatial: {index_type: geohash}}]}\n`);
writeProject(dataDir, 'ns', 'bare', HEAD);
writeProject(dataDir, 'ns', 'dangling', `${HEAD}memory: {default_store: gone, stores: [{name: main, graph: {}}]}\n`);

export const M = '/v1/projects/ns/p/memory';
export const ids: Record<string, string> = {};
export const add = (name: string, body: object, more: Partial<Scenario> = {}, query = ''): Scenario => ({
  name,
  method: 'POST',
  path: `${M}/add${query}`,
  body,
  json: (reply) => {
    ids[name] = reply.uuid;
  },
  ...more,
});
export const read = (name: string, path: string | (() => string), json: Scenario['json'], more: Partial<Scenario> = {}): Scenario => ({
  name,
  path: typeof path === 'string' && !path.startsWith('/') ? `${M}/${path}` : path,
  ...(json ? { json } : {}),
  ...more,
});
export const refused = (name: string, body: object, status: number, ...contains: string[]): Scenario => ({
  name: `add refuses ${name}`,
  method: 'POST',
  path: `${M}/add`,
  body,
  status,
  contains,
});
export const refusedRead = (path: string, status: number, ...contains: string[]): Scenario => ({
  name: `${path} is refused`,
  path: `${M}/${path}`,
  status,
  contains,
});
// biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
export const dataOf = (reply: any): unknown[] => reply.results.map((one: { data: unknown }) => one.data);
export const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
export const AT = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 - 7_200_000);
export const at = (seconds: number): string => new Date(AT.getTime() + seconds * 1_000).toISOString();

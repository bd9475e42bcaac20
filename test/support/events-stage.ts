// What the tables of test/api/events share: projects, chats, and lists of events.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { coreEndpoints } from '../../gateway/core/index.js';
import { setLogLevel } from '../../runtime/base/log.js';
import type { Runtime } from '../../runtime/runtime.js';
import { writeProject } from './dataset-stage.js';
import { DOCUMENTS, DOCUMENTS_PROJECT } from './retrieval-project.js';
import { openRetrievalStage, type RetrievalStage } from './retrieval-stage.js';
import type { Scenario, Stage } from './scenario.js';

setLogLevel('error');
export const dataDir = mkdtempSync(join(tmpdir(), 'quern-api-events-'));
export const P = '/v1/projects/ns/p';
export const LOGS = `${P}/event_logs`;
const MODEL = '{name: m, provider: universal, model: x, api_key: canary-key-of-the-model}';
const bare = (events: string): string => `version: v1\nruntime: {models: [${MODEL}]}\nevents: ${events}\n`;
writeProject(dataDir, 'ns', 'p', `${DOCUMENTS_PROJECT}events: {max_age_days: 30}\n`);
writeProject(dataDir, 'ns', 'empty', bare('{}'));
writeProject(dataDir, 'ns', 'hashed', bare('{content: hash}'));
writeProject(dataDir, 'ns', 'silent', bare('{content: "off"}'));
writeProject(dataDir, 'ns', 'keys', bare('{}'));
writeProject(dataDir, 'ns', 'gone', bare('{}'));

export let stage: RetrievalStage;
/** What one row finds and later rows use. */
export const found = { id: '' };

export const chat = (name: string, body: object, more: Partial<Scenario> = {}, project = 'p'): Scenario => ({
  name,
  method: 'POST',
  path: `/v1/projects/ns/${project}/chat/completions`,
  headers: { 'X-No-Session': '1' },
  body,
  ...more,
});
export const list = (name: string, query: string, json: Scenario['json'], project = 'p'): Scenario => ({
  name,
  path: `/v1/projects/ns/${project}/event_logs${query}`,
  ...(json ? { json } : {}),
});
export const newest = (name: string, json: Scenario['json'], project = 'p'): Scenario[] => [
  list(`${name}: the newest in the list`, '?limit=1', (body) => (found.id = body.events[0].event_id), project),
  { name, path: () => `/v1/projects/ns/${project}/event_logs/${found.id}`, ...(json ? { json } : {}) },
];
export const user = (content: string, more: object = {}): object => ({ messages: [{ role: 'user', content }], ...more });
export const refused = (query: string, contains: readonly string[]): Scenario => ({
  name: `72 ${query} is refused`,
  path: `${LOGS}?${query}`,
  status: 422,
  contains,
});

// biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
export const names = (body: any): string[] => body.sub_events.map((one: { event_name: string }) => one.event_name);

export const STAGE: Stage<Runtime> = {
  endpoints: coreEndpoints,
  context: async () => {
    stage = await openRetrievalStage(dataDir);
    await stage.take(`${P}/datasets/docs`, DOCUMENTS);
    return stage;
  },
  close: async () => {
    await stage.close();
    rmSync(dataDir, { recursive: true, force: true });
  },
};

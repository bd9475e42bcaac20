// What the tables of test/api/datasets share: projects in every state, and uploads.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { datasetEndpoints } from '../../gateway/core/datasets.js';
import { taskEndpoints } from '../../gateway/core/tasks.js';
import { setLogLevel } from '../../runtime/base/log.js';
import { type DatasetStage, formOf, hashOf, openDatasetStage, PROJECT, writeProject } from './dataset-stage.js';
import type { Scenario, Stage } from './scenario.js';

setLogLevel('error');
export const dataDir = mkdtempSync(join(tmpdir(), 'quern-api-datasets-'));
export const P = '/v1/projects/ns/p/datasets';
export const HELLO = 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9';
export const FIVE = 'a\nb\nc\nd\ne';
export const folder = (dataset: string, ...rest: string[]): string => join(dataDir, 'projects/ns/p/lf_data/datasets', dataset, ...rest);
writeProject(dataDir, 'ns', 'p', PROJECT);
writeProject(dataDir, 'ns', 'plain', 'version: v1\nruntime: {models: [{name: m, provider: universal, model: x}]}\n');
writeProject(dataDir, 'ns', 'older', PROJECT.replace('{name: docs, ', `{name: docs, files: ["${hashOf('older')}", "${'0'.repeat(64)}"], `));
for (const [kind, text] of [
  ['raw', 'older'],
  [
    'meta',
    JSON.stringify({
      original_file_name: 'o.txt',
      resolved_file_name: 'o_1.txt',
      timestamp: 1.5,
      size: 5,
      mime_type: 'text/plain',
      hash: hashOf('older'),
    }),
  ],
] as const) {
  const place = join(dataDir, 'projects/ns/older/lf_data', kind);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, kind === 'raw' ? hashOf('older') : `${hashOf('older')}.json`), text);
}
export let stage: DatasetStage;
/** What one row finds and later rows use. */
export const found = { taskId: '' };

export const upload = (dataset: string, name: string, content: string, fields: Record<string, string> = {}, query = '') => ({
  method: 'POST',
  path: `${P}/${dataset}/data${query}`,
  ...formOf([['file', name, content]], fields),
});
export const overrides = (name: string, value: string, status = 400): Scenario => ({
  name: `59 parser_overrides: ${name} -> ${status}`,
  ...upload('docs', 'o.txt', `overrides ${name}`, { parser_overrides: value }),
  status,
  ...(status === 400 ? { contains: ['parser_overrides'] } : {}),
});

export const STAGE: Stage<DatasetStage> = {
  endpoints: [...datasetEndpoints, ...taskEndpoints],
  context: async () => {
    stage = await openDatasetStage({ dataDir });
    return stage;
  },
  close: async () => {
    await stage.close();
    rmSync(dataDir, { recursive: true, force: true });
  },
};

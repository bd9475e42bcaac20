// What the tables of test/api/projects share: project files in every state.
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const dataDir = mkdtempSync(join(tmpdir(), 'quern-api-projects-'));
export const MODEL = { name: 'm', provider: 'universal', model: 'x' };
export const BASE = { version: 'v1', runtime: { models: [MODEL] } };
export const GOOD = 'version: v1\nruntime:\n  models:\n    - {name: m, provider: universal, model: x} # the one\n';
export const E1 = { name: 'e1', type: 'UniversalEmbedder', config: {} };
export const DATABASE = { name: 'd', type: 'ChromaStore' };

export function fileOf(namespace: string, name: string, file = 'project.yaml'): string {
  return join(dataDir, 'projects', namespace, name, file);
}
function write(namespace: string, name: string, text: string, file?: string): void {
  mkdirSync(join(dataDir, 'projects', namespace, name), { recursive: true });
  writeFileSync(fileOf(namespace, name, file), text);
}

write('files', 'order', GOOD.replace('model: x', 'model: from-yaml'));
write('files', 'order', GOOD.replace('model: x', 'model: from-yml'), 'project.yml');
write('files', 'order', 'version = "v1"\nruntime.models = [{ name = "m", provider = "universal", model = "from-toml" }]\n', 'project.toml');
write('files', 'toml', 'a = [', 'project.toml');
write('files', 'farm', GOOD.replace('model: x', 'model: from-farm'), 'llamafarm.yaml');
write('files', 'empty', '');
write('files', 'broken', 'a: [');
mkdirSync(join(dataDir, 'projects/files/nothing'));
write('many', 'good', GOOD);
write('many', 'bad', `version: v1\nkeep: 1\nruntime: {models: [${Array.from({ length: 7 }, () => '{model: x}').join(', ')}]}\n`);
writeFileSync(join(dataDir, 'outside.yaml'), 'secret-canary');

/** Where a row of the table starts from: a project `rows/p` with one model. */
export const PUT = { method: 'PUT', path: '/v1/projects/rows/p' } as const;
write('rows', 'p', GOOD);

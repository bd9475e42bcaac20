import { basename } from 'node:path';
import type { McpServer } from '../../schemas/generated/config/project.js';
import type { JsonObject } from '../base/json.js';
import { turn } from '../base/loop.js';
import { validateConfig } from '../config/validate.js';
import { parseLargeProjectFile } from '../config/yaml-worker.js';

/**
 * The tool servers that a project file is about to have: as they were given, and as they will be read from its text, since whichever is used
 * must be known as written by a request.
 */
export async function serversIn(path: string, text: string, given: JsonObject, namespace: string, name: string): Promise<McpServer[]> {
  if (given.mcp === undefined) return [];
  const read = await parseLargeProjectFile(basename(path), text, `Project ${namespace}/${name}`);
  const servers: McpServer[] = [];
  for (const { version, mcp } of [given, read]) {
    await turn();
    // The rest of the file is not needed for them.
    const { config } = validateConfig({ version, runtime: { models: [] }, mcp } as JsonObject, namespace, name);
    servers.push(...(config?.mcp?.servers ?? []));
  }
  return servers;
}

import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { log } from '../../base/log.js';
import type { RemoteFile } from './client.js';
import type { DownloadPlan } from './plan.js';

/** The names in a graph that has been fetched, relative to the repository. */
async function namedBy(graph: RemoteFile, { layout, commit, repository }: DownloadPlan): Promise<string[]> {
  const place = [layout.blob(graph.etag), join(layout.snapshot(commit), ...graph.path.split('/'))].find((path) => existsSync(path));
  if (place === undefined) return [];
  const { externalFiles } = await import('../../formats/onnx/graph-file.js');
  try {
    return externalFiles(place).map((name) => posix.join(posix.dirname(graph.path), name));
  } catch (error) {
    // Its bytes are those of the hub; loading it says what is wrong with them.
    log('warn', `${graph.path} of ${repository} does not tell where its weights lie`, { error });
    return [];
  }
}

/**
 * Files of a repository with weights of graphs that have been fetched, and that the plan does not have: exporters may call them as they like,
 * and only the graph itself tells. Never a file outside the graph's folder.
 */
export async function outsideWeights(plan: DownloadPlan): Promise<RemoteFile[]> {
  const graphs = plan.files.filter(({ path }) => /\.onnx$/i.test(path));
  const named = new Set((await Promise.all(graphs.map((graph) => namedBy(graph, plan)))).flat());
  return plan.beside.filter(({ path }) => named.has(path));
}

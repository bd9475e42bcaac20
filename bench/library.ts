import type { ChildProcess } from 'node:child_process';
import { emptyDataDir } from '../test/support/daemon.js';
import { writeProject } from '../test/support/dataset-stage.js';
import { freePort } from '../test/support/ports.js';
import { RETRIEVAL_PROJECT, RetrievalClient } from '../test/support/retrieval-client.js';
import { answers, quern } from './measure.js';

const LIMIT_MS = 3_600_000;

/** A daemon with a project for documents, and a client of it. */
export interface Library {
  readonly client: RetrievalClient;
  readonly daemon: ChildProcess;
}

/** A file to take in. */
export type Source = readonly [name: string, content: string];

/** Starts a daemon with the project of the retrieval tests, or another; `prepare` sees its directory first. */
export async function openLibrary(project = RETRIEVAL_PROJECT, prepare?: (dataDir: string) => void): Promise<Library> {
  const dataDir = emptyDataDir();
  prepare?.(dataDir);
  writeProject(dataDir, 'ns', 'p', project);
  const port = await freePort();
  const daemon = quern('start', port, dataDir, true);
  const core = `http://127.0.0.1:${port}`;
  await answers(`${core}/health`);
  return { daemon, client: new RetrievalClient(core) };
}

/** Uploads files to a dataset and takes it in; resolves to the time that the task took and what the database then holds. */
export async function takeIn(
  client: RetrievalClient,
  files: Iterable<Source>,
  dataset = 'docs',
): Promise<{ taskMs: number; chunks: number }> {
  for (const [name, content] of files) await client.upload(dataset, name, content);
  const started = performance.now();
  const task = await client.settled(await client.process(dataset), LIMIT_MS);
  const taskMs = performance.now() - started;
  if (task.state !== 'SUCCESS') throw new Error(`the task ended as ${task.state}: ${task.traceback}`);
  return { taskMs, chunks: (await client.stats('main_db')).chunk_count };
}

import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatasetContext } from '../../gateway/core/dataset-files.js';
import { PageImages } from '../../runtime/documents/parsing/page-images.js';
import { openDatasets } from '../../runtime/library/datasets/datasets.js';
import { PagePictures } from '../../runtime/library/datasets/page-pictures.js';
import { Projects } from '../../runtime/projects/projects.js';
import { openStore, type Store } from '../../runtime/store/store.js';
import type { TasksOptions } from '../../runtime/tasks/tasks.js';
import { SmallIngest } from './small-ingest.js';

/** A project with two databases, one strategy with its own chunk sizes, and datasets in every shape. */
export const PROJECT = `version: v1
runtime:
  models:
    - {name: m, provider: universal, model: x}
rag: # documents
  databases:
    - {name: main_db, type: NativeStore}
    - {name: other_db, type: NativeStore}
  data_processing_strategies:
    - name: texts
      parsers:
        - {type: TextParser, config: {chunk_size: 400, chunk_overlap: 100}}
datasets:
  - {name: docs, database: main_db, data_processing_strategy: texts}
  - {name: twin, database: main_db, data_processing_strategy: texts}
  - {name: empty, database: main_db, data_processing_strategy: texts}
  - {name: eager, database: other_db, data_processing_strategy: texts, auto_process: true}
`;

/** Datasets on a real store and real files, with the small ingestion. */
export interface DatasetStage extends DatasetContext {
  readonly dataDir: string;
  readonly store: Store;
  readonly ingest: SmallIngest;
  close(): Promise<void>;
}

/** Writes the file of a project. */
export function writeProject(dataDir: string, namespace: string, name: string, text: string): void {
  mkdirSync(join(dataDir, 'projects', namespace, name), { recursive: true });
  writeFileSync(join(dataDir, 'projects', namespace, name, 'project.yaml'), text);
}

/** Opens a stage on a data directory, a new one unless given. */
export async function openDatasetStage(
  options: { dataDir?: string; quotaBytes?: number; tasks?: TasksOptions } = {},
): Promise<DatasetStage> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'quern-datasets-'));
  const store = await openStore(dataDir);
  const projects = new Projects({ dataDir });
  const ingest = new SmallIngest(join(dataDir, 'chunks'));
  const pageImages = new PageImages();
  const { quotaBytes, tasks: taskOptions } = options;
  const { datasets, tasks } = openDatasets({
    store,
    projects,
    ingest,
    ...(quotaBytes === undefined ? {} : { quotaBytes }),
    ...(taskOptions === undefined ? {} : { taskOptions }),
  });
  return {
    dataDir,
    store,
    ingest,
    tasks,
    datasets,
    pagePictures: new PagePictures(pageImages),
    close: async () => {
      await pageImages.close();
      await tasks.close();
      await store.close();
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** A form with files and text fields, as bytes with their content type. */
export function formOf(
  files: readonly (readonly [field: string, name: string, content: string | Uint8Array])[],
  fields: Readonly<Record<string, string>> = {},
): { headers: Record<string, string>; body: Buffer } {
  const boundary = 'quern-test-boundary';
  const parts = files.flatMap(([field, name, content]) => [
    `--${boundary}\r\nContent-Disposition: form-data; name="${field}"; filename="${name}"\r\nContent-Type: application/octet-stream\r\n\r\n`,
    content,
    '\r\n',
  ]);
  for (const [name, value] of Object.entries(fields)) {
    parts.push(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`);
  }
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([...parts, `--${boundary}--\r\n`].map((part) => Buffer.from(part as string))),
  };
}

/** SHA-256 of a text, in hex. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

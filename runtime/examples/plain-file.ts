import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { UploadedFile } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { Datasets } from '../library/datasets/datasets.js';

/** A file on disk that is no link. */
export interface PlainFile {
  readonly path: string;
  readonly name: string;
  readonly sizeBytes: number;
}

/** The file at a path; undefined where none is there, or a link, a folder or a device. */
export async function plainFile(path: string): Promise<PlainFile | undefined> {
  const stats = await lstat(path).catch(() => undefined);
  return stats?.isFile() ? { path, name: basename(path), sizeBytes: stats.size } : undefined;
}

/** Copies a file as if it had been sent. Throws `bad_request` for one that has meanwhile become a link, a device or longer. */
export async function copyFileIn(file: PlainFile, target: string): Promise<UploadedFile> {
  const { path, name, sizeBytes } = file;
  const hash = createHash('sha256');
  // A pipe without a writer would wait for one.
  const source = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((cause: unknown) => {
    throw changedFailure(file, cause);
  });
  try {
    const stats = await source.stat();
    if (!stats.isFile() || stats.size !== sizeBytes) throw changedFailure(file);
    const out = await open(target, 'w', 0o600);
    try {
      // No further than it was: it may be growing.
      if (sizeBytes > 0) {
        for await (const piece of source.createReadStream({ end: sizeBytes - 1, autoClose: false }) as AsyncIterable<Buffer>) {
          hash.update(piece);
          await out.write(piece);
        }
      }
      await out.sync();
    } finally {
      await out.close();
    }
  } finally {
    await source.close();
  }
  return { field: 'file', name, mimeType: '', path: target, sizeBytes, sha256: hash.digest('hex') };
}

function changedFailure({ name }: PlainFile, cause?: unknown): Failure {
  return new Failure('bad_request', `The file ${JSON.stringify(name)} changed while it was read. Try again.`, { cause });
}

/** Where files are taken in. */
interface Place {
  readonly namespace: string;
  readonly project: string;
  readonly dataset: string;
}

/** Adds files to a dataset, each in the place of an older one of its name but not of one of these. Throws as `copied` and `Datasets.add` do. */
export async function takeIn(datasets: Datasets, { namespace, project, dataset }: Place, files: readonly PlainFile[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'quern-example-'));
  const together: string[] = [];
  try {
    for (const file of files) {
      const upload = await copyFileIn(file, join(folder, 'file'));
      together.push(upload.sha256);
      await datasets.add(namespace, project, dataset, upload, together);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

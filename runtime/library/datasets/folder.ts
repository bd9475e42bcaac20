import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { access, copyFile, mkdir, open, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import type { UploadedFile } from '../../../schemas/endpoint.js';
import type { FileMetadata } from '../../../schemas/generated/core/datasets.js';
import { check } from '../../../schemas/validate.js';
import { fileFailure, flushDirectory, writeFlushed } from '../../base/durable-files.js';
import { log } from '../../base/log.js';
import { hasSettled, sameStats } from '../../projects/cache.js';
import { READS_AT_ONCE } from './contract.js';
import { mimeTypeOf } from './mime.js';
import { whilePending } from './pending.js';

/** Longest file name of common file systems, in bytes. */
const MAX_FILE_NAME_BYTES = 255;
const META_NAME = /^([0-9a-f]{64})\.json$/;

/**
 * The files of one dataset on disk: bytes in `raw/{hash}`, what is known of them in `meta/{hash}.json`, and a link under its dated name in
 * `index/by_name`. A file is there when its `meta` entry is: that is written last and removed first, so that a crash leaves it whole or not.
 */
export class DatasetFolder {
  readonly #path: string;
  #known = new Map<string, FileMetadata>();
  #stats: Stats | undefined;

  /** `path` is the dataset's own folder, which need not exist. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Every file, the oldest first. Entries that cannot be read are left out with a warning. */
  async list(): Promise<FileMetadata[]> {
    const folder = join(this.#path, 'meta');
    const stats = await stat(folder).catch(() => undefined);
    if (!stats) {
      this.#known.clear();
      this.#stats = undefined;
    } else if (!this.#stats || !sameStats(stats, this.#stats)) {
      await this.#read(folder);
      // Only a folder that has been quiet surely shows its next change in its times.
      this.#stats = hasSettled(stats) ? stats : undefined;
    }
    return [...this.#known.values()].sort((a, b) => a.timestamp - b.timestamp);
  }

  /** Where the bytes of a file lie, if they do. */
  async raw(hash: string): Promise<string | undefined> {
    const path = join(this.#path, 'raw', hash);
    return (await pathExists(path)) ? path : undefined;
  }

  /** Moves an upload in, with what its entry says of earlier versions. The caller sees to it that one change at a time is made. Throws `disk_full` or `forbidden`; nothing of it stays then. */
  add(upload: UploadedFile, versions: Pick<FileMetadata, 'version' | 'replaces'> = {}): Promise<FileMetadata> {
    return whilePending(this.#path, upload.sha256, () => this.#add(upload, versions)).catch((cause: unknown) => {
      throw fileFailure(cause, `store ${JSON.stringify(upload.name)}`);
    });
  }

  async #add(upload: UploadedFile, versions: Pick<FileMetadata, 'version' | 'replaces'>): Promise<FileMetadata> {
    const { name, folder, sha256: hash, sizeBytes: size } = upload;
    const raw = join(this.#path, 'raw', hash);
    const meta = join(this.#path, 'meta', `${hash}.json`);
    let link: string | undefined;
    try {
      for (const folder of ['raw', 'meta', join('index', 'by_name')]) await makeFolder(join(this.#path, folder));
      await moveFile(upload.path, raw);
      await flushDirectory(dirname(raw));
      const { timestamp, resolved } = await this.#link(name, hash);
      link = join(this.#path, 'index', 'by_name', resolved);
      const entry: FileMetadata = {
        original_file_name: name,
        resolved_file_name: resolved,
        timestamp,
        size,
        mime_type: mimeTypeOf(name, upload.mimeType),
        hash,
        ...(folder ? { original_folder: folder } : {}),
        ...versions,
      };
      await this.#write(entry);
      return entry;
    } catch (cause) {
      for (const path of [meta, link, raw]) if (path !== undefined) await rm(path, { force: true }).catch(() => undefined);
      throw cause;
    }
  }

  /** Writes the entry of a file that is there anew. Throws `disk_full` or `forbidden`; the old entry stays then. */
  async update(entry: FileMetadata): Promise<void> {
    await whilePending(this.#path, entry.hash, () => this.#write(entry)).catch((cause: unknown) => {
      throw fileFailure(cause, `change the entry of ${JSON.stringify(entry.original_file_name)}`);
    });
  }

  /** Takes a file out, with its bytes where `bytes` says so. */
  async remove(hash: string, { bytes }: { bytes: boolean }): Promise<void> {
    const entry = (await this.list()).find((file) => file.hash === hash);
    const work = async (): Promise<void> => {
      await rm(join(this.#path, 'meta', `${hash}.json`), { force: true });
      await flushDirectory(join(this.#path, 'meta'));
      this.#known.delete(hash);
      if (entry) await rm(join(this.#path, 'index', 'by_name', entry.resolved_file_name), { force: true });
      if (bytes) await rm(join(this.#path, 'raw', hash), { force: true });
    };
    await whilePending(this.#path, hash, work, { keepsBytes: !bytes }).catch((cause: unknown) => {
      throw fileFailure(cause, `remove file ${hash}`);
    });
  }

  async #write(entry: FileMetadata): Promise<void> {
    const folder = join(this.#path, 'meta');
    const temporary = join(folder, `.${entry.hash}.tmp`);
    try {
      await rm(temporary, { force: true });
      await writeFlushed(temporary, `${JSON.stringify(entry, null, 2)}\n`);
      await rename(temporary, join(folder, `${entry.hash}.json`));
      await flushDirectory(folder);
      this.#known.set(entry.hash, entry);
    } catch (cause) {
      await rm(temporary, { force: true }).catch(() => undefined);
      throw cause;
    }
  }

  async #read(folder: string): Promise<void> {
    const hashes = (await readdir(folder)).flatMap((name) => META_NAME.exec(name)?.[1] ?? []);
    const found = new Map<string, FileMetadata>();
    for (let from = 0; from < hashes.length; from += READS_AT_ONCE) {
      await Promise.all(
        hashes.slice(from, from + READS_AT_ONCE).map(async (hash) => {
          const entry = this.#known.get(hash) ?? (await readEntry(join(folder, `${hash}.json`)));
          if (entry) found.set(hash, entry);
        }),
      );
    }
    this.#known = found;
  }

  /** Makes the link of a file under a dated name that is not taken. */
  async #link(name: string, hash: string): Promise<{ timestamp: number; resolved: string }> {
    for (;;) {
      const timestamp = Number(((performance.timeOrigin + performance.now()) / 1000).toFixed(6));
      const resolved = resolvedName(name, timestamp);
      try {
        await symlink(join('..', '..', 'raw', hash), join(this.#path, 'index', 'by_name', resolved));
        return { timestamp, resolved };
      } catch (cause) {
        const { code } = cause as NodeJS.ErrnoException;
        // Where links need rights that nobody has (Windows), the file is found by its hash alone.
        if (code === 'EPERM') return { timestamp, resolved };
        if (code !== 'EEXIST') throw cause;
      }
    }
  }
}

/** `report.pdf` as `report_<seconds>.pdf`, cut to what a file system takes. */
export function resolvedName(name: string, timestamp: number): string {
  const ending = extname(name);
  const tail = `_${timestamp}${Buffer.byteLength(ending) > 64 ? '' : ending}`;
  let stem = name.slice(0, name.length - ending.length);
  while (Buffer.byteLength(stem + tail) > MAX_FILE_NAME_BYTES) stem = stem.slice(0, -1);
  return stem + tail;
}

/** What a `meta` file says; undefined, with a warning, where it cannot be used. */
export async function readEntry(path: string): Promise<FileMetadata | undefined> {
  try {
    return check<FileMetadata>('core/datasets#FileMetadata', JSON.parse(await readFile(path, 'utf8')), 'file');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT')
      log('warn', 'an entry of a dataset cannot be read and is left out', { path, cause });
    return undefined;
  }
}

/** Whether there is something at a path. */
export function pathExists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Makes a folder with those above it, durably. */
async function makeFolder(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let at = path; at.length >= first.length; at = dirname(at)) await flushDirectory(dirname(at));
}

/** Renames a flushed file; across file systems it is copied, flushed, and then renamed. */
async function moveFile(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EXDEV') throw cause;
    const beside = `${to}.${randomBytes(6).toString('hex')}.tmp`;
    try {
      await copyFile(from, beside, constants.COPYFILE_EXCL);
      const file = await open(beside, 'r+');
      await file.sync().finally(() => file.close());
      await rename(beside, to);
    } catch (failure) {
      await rm(beside, { force: true });
      throw failure;
    }
  }
}

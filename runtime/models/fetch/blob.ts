import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { fileFailure, flushDirectory } from '../../base/durable-files.js';
import { log } from '../../base/log.js';
import { lockFile, type RemoteFile, type RepositoryLayout } from '../cache/layout.js';
import type { HubClient } from './client.js';
import { isTransient, isWorthAnotherTry, pauseBeforeTry, pauseFor } from './hub-requests.js';
import { checkFree } from './space.js';
import { Digest, digestKind, Flusher, Journal, type Part, PartWriter } from './unfinished-file.js';

/** A file to bring into the cache. */
interface BlobRequest {
  readonly client: HubClient;
  readonly layout: RepositoryLayout;
  readonly commit: string;
  readonly file: RemoteFile;
  /** Hears how many bytes of it are on disk, whenever that changes. */
  readonly onBytes: (bytes: number) => void;
  /** Hears why a connection is tried again, and how many milliseconds later. */
  readonly onPause: (ms: number, why: Failure) => void;
}

/** Downloads of one file that may end with the wrong bytes before it is given up. */
const WHOLE_TRIES = 3;

/**
 * Brings one file into the cache: in parts over several connections, going on where an earlier process stopped, checked against the hash by
 * which the hub names it before it gets its name. One writer at a time among all processes. Resolves to false where another brought it.
 * Throws `unavailable` (code `DownloadDamaged`) for bytes that stay wrong, `disk_full`, and what the hub refuses with.
 */
export async function fetchBlob(request: BlobRequest, signal: AbortSignal): Promise<boolean> {
  const { layout, file, commit } = request;
  const release = await lockFile(layout.lock(file.etag), signal);
  try {
    // Another process may have removed it, empty, with a download that was cancelled.
    await mkdir(layout.blobs, { recursive: true });
    if (await layout.has(file, commit)) return false;
    for (let tried = 1; tried <= WHOLE_TRIES; tried++) {
      if (await downloadOnce(request, signal)) return true;
      request.onBytes(0);
    }
    throw new Failure(
      'unavailable',
      `${file.path} of ${layout.repository} arrived damaged ${WHOLE_TRIES} times: its bytes do not have the hash ${file.etag} that the hub lists. Check the network or the mirror (HF_ENDPOINT), then try again.`,
      { code: 'DownloadDamaged' },
    );
  } finally {
    await release();
  }
}

/** Smaller files are read again at their end, larger ones behind the writing. */
const DIGEST_BESIDE_BYTES = 4 * 1024 * 1024;

/** Downloads into the unfinished file and checks it; false, with nothing left of it, where its bytes are not what they should be. */
async function downloadOnce(request: BlobRequest, signal: AbortSignal): Promise<boolean> {
  const { layout, file } = request;
  const path = layout.incomplete(file.etag);
  const handle = await open(path, constants.O_RDWR | constants.O_CREAT, 0o666);
  const journal = await Journal.open(`${path}.parts`, file.sizeBytes);
  const digest = file.sizeBytes > DIGEST_BESIDE_BYTES ? new Digest({ path, kind: digestKind(file.etag), sizeBytes: file.sizeBytes }) : null;
  const flusher = new Flusher(handle);
  try {
    const { size } = await handle.stat();
    if (journal.parts.some((part) => part.doneBytes > 0 && part.from + part.doneBytes > size)) await journal.reset();
    request.onBytes(journal.doneBytes);
    const download = new BlobDownload(request, handle, journal, digest, flusher);
    await download.run(signal).catch(async (error: unknown) => {
      if (!(error instanceof NoRanges)) throw error;
      await journal.reset();
      await download.runWhole(signal);
    });
    digest?.readable(file.sizeBytes);
    const [hex] = await Promise.all([digest ? digest.hex() : digestOf(handle, file), flusher.end()]);
    if (hex === file.etag) {
      await rename(path, layout.blob(file.etag));
      await flushDirectory(dirname(path));
      await journal.remove();
      return true;
    }
    log('warn', `${file.path} of ${layout.repository} arrived damaged: its digest is ${hex}, and should be ${file.etag}`);
    await rm(path, { force: true });
    await journal.remove();
    return false;
  } catch (error) {
    if (await flusher.failed()) await journal.reset();
    throw fileFailure(error, `write ${file.path}`);
  } finally {
    await digest?.close();
    await journal.close();
    await handle.close();
  }
}

/** Between two notes of one part in the journal, and between two looks at the free space. */
const NOTE_BYTES = 8 * 1024 * 1024;

/** A connection that brought this much was worth its try. */
const PROGRESS_BYTES = 64 * 1024;

/** One file on its way: its parts, its journal and what has been written of it. */
class BlobDownload {
  constructor(
    private readonly request: BlobRequest,
    private readonly handle: FileHandle,
    private readonly journal: Journal,
    private readonly digest: Digest | null,
    private readonly flusher: Flusher,
  ) {}

  /** Fetches every part that is missing, several at a time. The first failure stops the others. */
  async run(signal: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const both = AbortSignal.any([signal, stop.signal]);
    const waiting = this.journal.parts.filter((part) => part.doneBytes < part.sizeBytes);
    const lane = async (): Promise<void> => {
      for (let part = waiting.shift(); part; part = waiting.shift()) await this.#part(part, both);
    };
    const count = Math.min(this.request.client.settings.connections, waiting.length);
    const failures: unknown[] = [];
    const lanes = Array.from({ length: count }, () =>
      lane().catch((error: unknown) => {
        failures.push(error);
        stop.abort(error);
      }),
    );
    await Promise.all(lanes);
    if (failures.length > 0) throw failures[0];
  }

  /** Fetches the whole file over one connection, from a server that knows no ranges. */
  async runWhole(signal: AbortSignal): Promise<void> {
    const { file, onBytes } = this.request;
    await this.#withRetries(file.path, signal, async () => {
      onBytes(0);
      let got = 0;
      await this.#read(null, file.sizeBytes, signal, (bytes) => {
        got += bytes;
        this.flusher.written(bytes);
        onBytes(got);
      });
    });
  }

  async #part(part: Part, signal: AbortSignal): Promise<void> {
    await this.#withRetries(this.request.file.path, signal, async () => {
      const before = part.doneBytes;
      const from = part.from + before;
      const isAll = before === 0 && part.sizeBytes === this.request.file.sizeBytes;
      let unnoted = 0;
      const onWritten = (bytes: number): void => {
        part.doneBytes += bytes;
        unnoted += bytes;
        this.flusher.written(bytes);
        this.request.onBytes(this.journal.doneBytes);
        if (unnoted < NOTE_BYTES) return;
        unnoted = 0;
        void this.journal.note(part);
        this.digest?.readable(this.journal.unbrokenBytes);
      };
      try {
        await this.#read(isAll ? null : { from, to: part.from + part.sizeBytes - 1 }, part.sizeBytes - before, signal, onWritten);
      } finally {
        await this.journal.note(part);
      }
    });
  }

  /** Tries again after failures that pass, with pauses; a try that brought bytes makes the count begin anew. */
  async #withRetries(path: string, signal: AbortSignal, act: () => Promise<void>): Promise<void> {
    const { onBytes, onPause } = this.request;
    for (let tried = 1; ; tried++) {
      const before = this.journal.doneBytes;
      try {
        await act();
        return;
      } catch (error) {
        if (this.journal.doneBytes - before >= PROGRESS_BYTES) tried = 1;
        if (signal.aborted || !isWorthAnotherTry(error, tried)) throw error;
        log('debug', `${path}: ${error.message} Trying again.`);
        onBytes(this.journal.doneBytes);
        const pauseMs = pauseBeforeTry(tried, this.request.client.settings.pauseMs, error);
        onPause(pauseMs, error);
        await pauseFor(pauseMs, signal);
      }
    }
  }

  /** Reads one answer into the file: a range of it, or all from the beginning. */
  async #read(
    range: { from: number; to: number } | null,
    length: number,
    signal: AbortSignal,
    onWritten: (bytes: number) => void,
  ): Promise<void> {
    const { client, layout, commit, file } = this.request;
    const { reply, etag } = await client.open(layout.repository, commit, file, range, signal);
    const writer = new PartWriter(this.handle, range?.from ?? 0, onWritten);
    let [left, unchecked] = [length, 0];
    try {
      if (range !== null && reply.status === 200) throw new NoRanges();
      checkAnswer(file, range, etag, reply);
      for await (const chunk of reply.chunks()) {
        if (chunk.byteLength > left) throw mismatch(file.path, 'it is longer');
        left -= chunk.byteLength;
        unchecked += chunk.byteLength;
        await writer.add(chunk);
        if (unchecked < NOTE_BYTES) continue;
        unchecked = 0;
        await checkFree(layout.folder);
      }
    } catch (error) {
      // An answer that has come whole may end as it likes.
      if (left > 0 || !isTransient(error) || error.code === 'DownloadMismatch') throw error;
    } finally {
      reply.discard();
      await writer.end();
    }
    if (left > 0) throw new Failure('unavailable', `${file.path} broke off with ${left} bytes missing.`, { code: 'DownloadCut' });
  }
}

/** The server sends whole files only; thrown to begin again without ranges. */
class NoRanges extends Error {}

function checkAnswer(
  file: RemoteFile,
  range: { from: number; to: number } | null,
  etag: string | null,
  reply: { header(name: string): string | undefined },
): void {
  // Entity tags of other forms are a mirror's own.
  if (etag !== null && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(etag) && etag.length === file.etag.length && etag !== file.etag)
    throw mismatch(file.path, `it is ${etag} now, and was ${file.etag} in the listing`);
  const length = reply.header('content-length');
  const stretch = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(reply.header('content-range') ?? '');
  if (range === null) {
    if (length !== undefined && Number(length) !== file.sizeBytes)
      throw mismatch(file.path, `it has ${length} bytes, not ${file.sizeBytes}`);
    return;
  }
  if (stretch === null || Number(stretch[1]) !== range.from) throw mismatch(file.path, 'another stretch came than was asked for');
  if (stretch[3] !== '*' && Number(stretch[3]) !== file.sizeBytes)
    throw mismatch(file.path, `it has ${stretch[3]} bytes, not ${file.sizeBytes}`);
}

function mismatch(path: string, what: string): Failure {
  return new Failure('unavailable', `${path} does not arrive as the hub lists it: ${what}.`, { code: 'DownloadMismatch' });
}

async function digestOf(handle: FileHandle, file: RemoteFile): Promise<string> {
  const content = Buffer.alloc(file.sizeBytes);
  await handle.read(content, 0, file.sizeBytes, 0);
  if (digestKind(file.etag) === 'sha256') return createHash('sha256').update(content).digest('hex');
  return createHash('sha1').update(`blob ${file.sizeBytes}\0`).update(content).digest('hex');
}

import { statfs } from 'node:fs/promises';
import { dirname, parse } from 'node:path';
import { Failure } from '../../../schemas/errors.js';

/** With less than this free, no download begins. */
const RESERVE_BYTES = 100 * 1024 * 1024;
/** With less than this free, a running one stops. */
const LEAST_BYTES = 16 * 1024 * 1024;
/** A disk with less than this share of it free after a download is called low. */
const LOW_SHARE = 0.1;

/** The nearest folder above a path that is there already. */
export async function nearestFolder(path: string): Promise<string> {
  for (let folder = path; ; folder = dirname(folder)) {
    const isThere = await statfs(folder).then(
      () => true,
      () => false,
    );
    if (isThere || folder === parse(folder).root) return folder;
  }
}

interface Volume {
  readonly totalBytes: number;
  /** Bytes that a program without special rights can still write. */
  readonly freeBytes: number;
}

async function volume(path: string): Promise<Volume> {
  const { bavail, blocks, bsize } = await statfs(await nearestFolder(path));
  return { totalBytes: blocks * bsize, freeBytes: bavail * bsize };
}

/** Whether so many more bytes fit on the disk of a folder, and whether little would be left there or on the system's disk. */
export interface Fit {
  readonly canDownload: boolean;
  readonly isLow: boolean;
  readonly message: string;
  readonly requiredBytes: number;
  readonly availableBytes: number;
}

const mib = (bytes: number): string => `${Math.ceil(bytes / 1024 ** 2)} MiB`;

/** Judges whether a download of `requiredBytes` into `folder` fits. */
export async function fit(folder: string, requiredBytes: number): Promise<Fit> {
  const [cache, system] = await Promise.all([volume(folder), volume(parse(folder).root)]);
  const availableBytes = cache.freeBytes;
  const isBlocked = requiredBytes > 0 && (availableBytes < RESERVE_BYTES || availableBytes < requiredBytes + LEAST_BYTES);
  const isLow = isBlocked || [cache, system].some((disk) => disk.freeBytes - requiredBytes < disk.totalBytes * LOW_SHARE);
  const needs = `The download needs ${mib(requiredBytes)}; ${mib(availableBytes)} are free in ${folder}`;
  const blocked = `${needs}, and ${mib(RESERVE_BYTES)} must be. Free some space, or set HF_HUB_CACHE to a folder on another disk.`;
  const rest = isLow ? `: space will be low after it.` : '.';
  return { canDownload: !isBlocked, isLow, message: isBlocked ? blocked : `${needs}${rest}`, requiredBytes, availableBytes };
}

/** A plan whose readers are told first that the space will be low, where it will be. */
export function withSpaceNote<Plan extends { readonly notes: readonly string[] }>(plan: Plan, { isLow, message }: Fit): Plan {
  return isLow ? { ...plan, notes: [message, ...plan.notes] } : plan;
}

/** Throws `disk_full` when a running download has used up the space that must stay free. */
export async function checkFree(path: string): Promise<void> {
  const { freeBytes: free } = await volume(path);
  if (free >= LEAST_BYTES) return;
  throw new Failure(
    'disk_full',
    `The disk that holds the model cache is full (${free} bytes are free); the download stopped. Free some space and start it again: it goes on where it was.`,
  );
}

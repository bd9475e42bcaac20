const MEBIBYTE = 1024 * 1024;
const UPLOAD_MIB = 100;

/** Bounds of the files that clients leave for a while. */
export interface FileLimits {
  /** From an upload to its removal. */
  readonly keptMs: number;
  readonly sweepMs: number;
  readonly maxFiles: number;
  /** Of all files and rendered pages. */
  readonly totalBytes: number;
  /** Pages of one PDF that are rendered. */
  readonly pages: number;
  /** Of the images of one file, as one answer carries them. */
  readonly imageBytes: number;
}

/** Bounds where none are given. */
export const FILE_LIMITS: FileLimits = {
  keptMs: 300_000,
  sweepMs: 60_000,
  maxFiles: 1000,
  totalBytes: 4096 * MEBIBYTE,
  pages: 500,
  imageBytes: 128 * MEBIBYTE,
};

/** Largest upload in bytes: `MAX_UPLOAD_SIZE` where it is a positive number of bytes, else 100 MiB. */
export function uploadLimitBytes(env: NodeJS.ProcessEnv = process.env): number {
  const given = Number(env.MAX_UPLOAD_SIZE);
  return Number.isSafeInteger(given) && given > 0 ? given : UPLOAD_MIB * MEBIBYTE;
}

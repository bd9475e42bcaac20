import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '../../build/native');

/** What a package says of the addons in it. */
interface Prebuilt {
  /** For which system they were built. */
  readonly platform: string;
  readonly arch: string;
  /** SHA-256 in hex by path below `build/native`. */
  readonly files: Readonly<Record<string, string>>;
}

/**
 * Why the addons that came in a package are not to be loaded: built for another system, missing, or not the files that were packed. Nothing where they
 * are, and where they were built here. Reads and hashes 4 MB. `folder` is `build/native`.
 */
export function prebuiltComplaint(folder: string = FOLDER): string | undefined {
  const told = join(folder, 'prebuilt.json');
  if (!existsSync(told)) return undefined;
  const { platform, arch, files } = JSON.parse(readFileSync(told, 'utf8')) as Prebuilt;
  if (platform !== process.platform || arch !== process.arch)
    return `they were built for ${platform}-${arch}, and this is ${process.platform}-${process.arch}`;
  for (const [name, hash] of Object.entries(files)) {
    const path = join(folder, name);
    if (!existsSync(path)) return `${path} is missing`;
    const found = createHash('sha256').update(readFileSync(path)).digest('hex');
    if (found !== hash) return `${path} is not the file that was packed: its SHA-256 is ${found} instead of ${hash}`;
  }
  return undefined;
}

/** Whether the addons came in a package, and were not built here. */
export const arePrebuilt = (): boolean => existsSync(join(FOLDER, 'prebuilt.json'));

import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** The bytes of all files below a folder, as far as they can be read; 0 for one that is not there. */
export async function bytesBelow(folder: string): Promise<number> {
  let bytes = 0;
  const entries = await opendir(folder).catch(() => undefined);
  if (!entries) return 0;
  for await (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += await bytesBelow(path);
    else if (entry.isFile()) bytes += (await stat(path).catch(() => undefined))?.size ?? 0;
  }
  return bytes;
}

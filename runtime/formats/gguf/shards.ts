import { stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Parts of a split model. */
export const SHARD_LIMIT = 512;
const SHARD_SUFFIX = /-(\d{5})-of-(\d{5})\.gguf$/i;

/** The place of a file in a split model: shard `index` of `count`, from 1; undefined for a whole file. */
export function shardOf(path: string): { index: number; count: number } | undefined {
  const match = SHARD_SUFFIX.exec(basename(path));
  return match ? { index: Number(match[1]), count: Number(match[2]) } : undefined;
}

/** The path of shard `index`, from 1, of the set that `path` belongs to. */
export function shardPath(path: string, index: number): string {
  return join(
    dirname(path),
    basename(path).replace(SHARD_SUFFIX, (_whole, _index, count: string) => `-${String(index).padStart(5, '0')}-of-${count}.gguf`),
  );
}

/** Bytes of a GGUF file with all its parts, those that are there. */
export async function ggufBytes(path: string): Promise<number> {
  const count = Math.min(shardOf(path)?.count ?? 1, SHARD_LIMIT);
  const parts = count === 1 ? [path] : Array.from({ length: count }, (_, index) => shardPath(path, index + 1));
  const sizes = parts.map((part) =>
    stat(part).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

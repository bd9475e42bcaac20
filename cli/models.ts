import { readOptions } from '../gateway/daemon/options.js';
import { humanSize } from '../runtime/base/sizes.js';
import { openModelCache } from './model-cache.js';
import { printTable } from './table.js';

/** Prints the models on this machine with their formats, sizes and quantisations. */
export async function models(args: string[]): Promise<void> {
  const cache = await openModelCache(readOptions(args, process.env));
  const rows = await cache.list().finally(() => cache.close());
  const cells = rows.map((row) => [row.id, row.format, humanSize(row.sizeBytes), row.source, row.quantisations.join(' ')]);
  printTable([['MODEL', 'FORMAT', 'SIZE', 'WHERE', 'QUANTISATIONS'], ...cells]);
  if (rows.length === 0) process.stdout.write('none yet; "quern pull org/repo" fetches one\n');
}

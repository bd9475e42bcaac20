import { stat } from 'node:fs/promises';
import { Failure } from '../../../schemas/errors.js';
import { inspectGraph } from './graph-file.js';

/** Graphs whose bytes are remembered until they change: walking one holds up the caller. */
const REMEMBERED = 256;

const known = new Map<string, { readonly stamp: string; readonly bytes: number }>();

function counted(graph: string, fileBytes: number): number {
  try {
    return inspectGraph(graph).sizeBytes;
  } catch (error) {
    if (error instanceof Failure) return fileBytes;
    throw error;
  }
}

async function bytesOf(graph: string): Promise<number> {
  const facts = await stat(graph).catch(() => undefined);
  if (!facts) return 0;
  const stamp = `${facts.mtimeMs}:${facts.size}:${facts.ino}`;
  const before = known.get(graph);
  if (before?.stamp === stamp) return before.bytes;
  const bytes = counted(graph, facts.size);
  known.delete(graph);
  known.set(graph, { stamp, bytes });
  if (known.size > REMEMBERED) known.delete(known.keys().next().value!);
  return bytes;
}

/**
 * Bytes of ONNX graphs (absolute paths) with the weights that each keeps in other files, whatever those are called. A file that is no
 * sound graph counts as it is: loading it says what is wrong.
 */
export async function graphBytes(graphs: readonly string[]): Promise<number> {
  const sizes = await Promise.all(graphs.map(bytesOf));
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

import { stat } from 'node:fs/promises';
import { Failure } from '../../../schemas/errors.js';
import { inspectGraph } from './graph-file.js';

async function bytesOf(graph: string): Promise<number> {
  try {
    return inspectGraph(graph).sizeBytes;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { size } = await stat(graph).catch(() => ({ size: 0 }));
    return size;
  }
}

/**
 * Bytes of ONNX graphs (absolute paths) with the weights that each keeps in other files, whatever those are called. A file that is no
 * sound graph counts as it is: loading it says what is wrong.
 */
export async function graphBytes(graphs: readonly string[]): Promise<number> {
  const sizes = await Promise.all(graphs.map(bytesOf));
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

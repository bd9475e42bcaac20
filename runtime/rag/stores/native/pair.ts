import type { IndexLoad, NativeTextIndex, NativeVectorIndex, VectorIndexOptions } from '../../../../native/contract.js';
import { loadCore } from '../../../../native/core.js';
import type { Metric } from '../score.js';
import type { FileVersion, IndexFiles } from './files.js';

/** A chunk that goes into the indexes. */
export interface IndexRow {
  readonly row: number;
  readonly vector: Float32Array;
  readonly text: string;
}

/** The native index's names of the metrics. */
const METRICS: Record<Metric, VectorIndexOptions['metric']> = { cosine: 'cosine', ip: 'inner_product', l2: 'l2' };

/** The vector index and the text index of one database, which always have the same rows. */
export class IndexPair {
  readonly vectors: NativeVectorIndex;
  readonly text: NativeTextIndex;

  /** Rows are kept in full precision, so that an exact scan's scores are exact. Throws `unavailable` when the native core is not there. */
  constructor(metric: Metric, dimensions: number) {
    this.vectors = loadCore().openVectorIndex({ metric: METRICS[metric], storage: 'f32', dimensions });
    this.text = loadCore().openTextIndex({ language: 'english' });
  }

  /** Rows that are there already are replaced. */
  async add(rows: readonly IndexRow[]): Promise<void> {
    if (rows.length === 0) return;
    const ids = Uint32Array.from(rows, ({ row }) => row);
    const dimensions = rows[0]!.vector.length;
    const vectors = new Float32Array(rows.length * dimensions);
    for (const [index, { vector }] of rows.entries()) vectors.set(vector, index * dimensions);
    await this.vectors.add(ids, vectors);
    await this.text.add(
      ids,
      rows.map(({ text }) => text),
    );
  }

  /** Rows that are not there are ignored. */
  async remove(rows: Uint32Array): Promise<void> {
    await this.vectors.remove(rows);
    await this.text.remove(rows);
  }

  /** Writes both files. */
  async save(files: IndexFiles, version: FileVersion): Promise<void> {
    await files.prepare();
    await this.vectors.save(files.path(version, 'vectors'), BigInt(version.generation));
    await this.text.save(files.path(version, 'words'), BigInt(version.generation));
  }

  /** Loads both or answers why not; the pair is then of no use any more. */
  async load(files: IndexFiles, version: FileVersion): Promise<IndexLoad> {
    const vectors = await this.vectors.load(files.path(version, 'vectors'), BigInt(version.generation));
    if (vectors.state !== 'loaded') return vectors;
    return this.text.load(files.path(version, 'words'), BigInt(version.generation));
  }

  /** Memory. */
  get bytes(): number {
    return this.vectors.stats().bytes + this.text.stats().bytes;
  }

  /** Frees the memory. */
  async close(): Promise<void> {
    await Promise.all([this.vectors.close(), this.text.close()]);
  }
}

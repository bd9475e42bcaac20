/** The passages of a file as its database keeps them. */
import { get } from '../../lib/api';

export interface Chunk {
  readonly id: string;
  readonly text: string;
  /** The page it is on, from 1; null for kinds of files without pages. */
  readonly page: number | null;
  /** Where it stands in what was read, in characters; null where that is not known. */
  readonly start: number | null;
  readonly end: number | null;
}

export interface ChunkPage {
  readonly chunks: readonly Chunk[];
  /** The cursor of the passages behind these. */
  readonly next: string | null;
  /** Pages of the file; null for kinds without pages. */
  readonly pages: number | null;
}

const AT_ONCE = 100;

/** Reads some passages of the file at `path`. */
export const readChunks = (path: string, cursor?: string): Promise<ChunkPage> =>
  get<ChunkPage>(`${path}/chunks?limit=${AT_ONCE}${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`);

import { hash as hashed } from 'node:crypto';
import type { Passage } from '../../documents/contract.js';
import type { Chunk } from '../../rag/contract.js';
import type { DatasetFile } from '../datasets/contract.js';

/** What is the same for all chunks of one run over a file. */
export interface ChunkOrigin {
  readonly file: DatasetFile;
  readonly dataset: string;
  readonly time: Date;
}

/** The chunk of a passage, with its identity: the same file cut in the same way has the same ids. Parsing has said all else that is known of it. */
export function chunkOf(passage: Passage, origin: ChunkOrigin): Chunk {
  const { file, time } = origin;
  const { text, index } = passage;
  const hash = sha256(text.trim());
  const id = `doc_${file.hash.slice(0, 12)}_chunk_${index}_${hash.slice(0, 8)}`;
  const iso = time.toISOString();
  const place: Record<string, unknown> = {};
  if (passage.page !== undefined) place.page = passage.page;
  if (passage.headings.length > 0) place.headings = passage.headings;
  const identity = {
    id,
    chunk_id: id,
    chunk_hash: hash,
    content_hash: hash,
    document_hash: file.hash,
    file_hash: file.hash,
    source_hash: sha256(file.name),
    dataset: origin.dataset,
    ...(file.version === undefined ? {} : { file_version: file.version }),
    start_position: passage.start,
    end_position: passage.end,
    processing_timestamp: iso,
    ingestion_timestamp: iso,
    processing_date: iso.slice(0, 10),
    processing_time: iso.slice(11, 19),
  };
  // A spread of so many members takes ten times as long.
  return { id, documentHash: file.hash, text, metadata: Object.assign({}, passage.metadata, place, identity) };
}

/** SHA-256 in hex. */
export function sha256(text: string): string {
  return hashed('sha256', text);
}

import type { Batch, DocumentRecord, RowRange } from '../../../store/store.js';
import type { EmbeddedChunk } from '../../contract.js';
import { documentName } from '../metadata.js';
import { type Bitmap, chunkBytes, putWaste, withoutRow, withRows } from './rows.js';

/** What is known of the rows of a collection. */
interface Rows {
  readonly documents: Map<string, DocumentRecord>;
  readonly alive: Bitmap;
  readonly dead: RowRange[];
  contentBytes: number;
  chunk(row: number): { documentHash: string; text: string } | undefined;
}

/** What adding chunks at rows from `first` on, in place of the rows `replaced`, does to the documents. */
export class Changes {
  readonly #rows: Rows;
  readonly #documents = new Map<string, DocumentRecord>();
  readonly #added: RowRange;
  readonly #replaced: readonly number[];

  constructor(rows: Rows, chunks: readonly EmbeddedChunk[], first: number, replaced: readonly number[]) {
    this.#rows = rows;
    this.#added = [first, chunks.length];
    this.#replaced = replaced;
    const dimensions = chunks[0]!.vector.length;
    for (const row of replaced) {
      const chunk = rows.chunk(row)!;
      const { rows: ranges, bytes, name } = this.#document(chunk.documentHash)!;
      this.#documents.set(chunk.documentHash, { name, rows: withoutRow(ranges, row), bytes: bytes - chunkBytes(chunk.text, dimensions) });
    }
    for (let at = 0; at < chunks.length; ) {
      const { documentHash, metadata } = chunks[at]!;
      const { name, rows: ranges, bytes } = this.#document(documentHash) ?? { name: documentName(metadata), rows: [], bytes: 0 };
      const from = at;
      let size = bytes;
      for (; chunks[at]?.documentHash === documentHash; at += 1) size += chunkBytes(chunks[at]!.text, dimensions);
      this.#documents.set(documentHash, { name, rows: withRows(ranges, first + from, at - from), bytes: size });
    }
  }

  /** Adds the records to a write. */
  put(batch: Batch, collection: number): void {
    for (const [hash, document] of this.#documents) {
      if (document.rows.length > 0) batch.put('documents', [collection, hash], document);
      else batch.remove('documents', [collection, hash]);
    }
    putWaste(
      batch,
      collection,
      this.#replaced.map((row) => [row, 1]),
    );
  }

  /** Makes what was written known. */
  apply(): void {
    const { documents, alive } = this.#rows;
    for (const [hash, document] of this.#documents) {
      this.#rows.contentBytes += document.bytes - (documents.get(hash)?.bytes ?? 0);
      if (document.rows.length > 0) documents.set(hash, document);
      else documents.delete(hash);
    }
    for (const row of this.#replaced) {
      alive.delete(row);
      this.#rows.dead.push([row, 1]);
    }
    for (let row = this.#added[0]; row < this.#added[0] + this.#added[1]; row += 1) alive.add(row);
  }

  #document(hash: string): DocumentRecord | undefined {
    return this.#documents.get(hash) ?? this.#rows.documents.get(hash);
  }
}

import type { Summary } from '../../documents/parsing/passage-file.js';
import type { FileOutcome, IngestRequest } from '../datasets/contract.js';

/** What is known of a run when it ends; no summary where parsing did not end. */
export interface Ending {
  readonly summary: Summary | undefined;
  /** Type of the embedder. */
  readonly embedder: string;
}

function known({ summary, embedder }: Ending) {
  const size = summary?.options.chunk_size;
  return {
    parser: summary?.parser ?? null,
    extractors: summary?.extractors ?? [],
    chunks: summary?.passages ?? 0,
    chunkSize: typeof size === 'number' ? size : null,
    embedder,
    warnings: summary?.warnings ?? [],
  };
}

/** The outcome of a file that cannot be taken in. */
export function failed(reason: string, ending: Ending): FileOutcome {
  return { status: 'failed', reason, ...known(ending), storedCount: 0, skippedCount: 0, documentCount: 0, documentIds: [] };
}

/** The outcome of a file all of whose chunks are in the database. */
export function finished({ file }: IngestRequest, { stored, skipped }: { stored: number; skipped: number }, ending: Ending): FileOutcome {
  return {
    status: stored === 0 ? 'skipped' : 'success',
    reason: stored === 0 ? 'duplicate' : null,
    ...known(ending),
    storedCount: stored,
    skippedCount: skipped,
    documentCount: 1,
    documentIds: [file.hash],
  };
}

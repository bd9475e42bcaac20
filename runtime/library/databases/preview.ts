import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import type { PreviewReply, PreviewRequest } from '../../../schemas/generated/core/rag.js';
import type { SourceFile } from '../../documents/parsers/contract.js';
import type { Parsed, Parsing } from '../../documents/parsing/parsing.js';
import type { LoadedProject, Projects } from '../../projects/projects.js';
import { databaseOf } from '../../rag/retrieval.js';
import { mimeTypeOf } from '../datasets/mime.js';
import { processingStrategyOf, UNIVERSAL_STRATEGY } from '../ingest/ingest.js';

/** Chunks and characters that are shown at most: an answer is made in one go. */
const MOST = { passages: 200, characters: 400_000 };

/** Finds an uploaded file by dataset and hash. Throws `not_found`. */
export type FindUpload = (project: LoadedProject, dataset: string, hash: string) => Promise<SourceFile>;

/** Shows how a file would be cut, without storing anything. */
export class Preview {
  readonly #projects: Projects;
  readonly #parsing: Parsing;
  readonly #find: FindUpload;

  constructor({ projects, parsing, find }: { projects: Projects; parsing: Parsing; find: FindUpload }) {
    this.#projects = projects;
    this.#parsing = parsing;
    this.#find = find;
  }

  /** Throws `bad_request` where no file is given, `not_found`, and `invalid` for a file that cannot be read. */
  async show(namespace: string, name: string, database: string, asked: PreviewRequest, signal: AbortSignal): Promise<PreviewReply> {
    const project = this.#projects.load(namespace, name);
    databaseOf(project.config, database);
    const { dataset_id: dataset, file_hash: hash, file_content: content } = asked;
    if (content === null || content === undefined) {
      if (!dataset || !hash)
        throw new Failure('bad_request', 'Give file_content and filename, or dataset_id and file_hash.', { code: 'NoFile' });
      return this.#cut(project, await this.#find(project, dataset, hash), asked, signal);
    }
    const folder = await mkdtemp(join(tmpdir(), 'quern-preview-'));
    try {
      const bytes = Buffer.from(content, 'base64');
      const fileName = basename(asked.filename || 'preview.txt');
      const path = join(folder, 'file');
      await writeFile(path, bytes);
      const file = { path, name: fileName, mimeType: mimeTypeOf(fileName, ''), sizeBytes: bytes.length };
      return await this.#cut(project, file, asked, signal);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async #cut(project: LoadedProject, file: SourceFile, asked: PreviewRequest, signal: AbortSignal): Promise<PreviewReply> {
    const named = asked.data_processing_strategy ?? project.config.rag?.data_processing_strategies?.[0]?.name;
    const strategy = named ? processingStrategyOf(project, named) : UNIVERSAL_STRATEGY;
    const { chunk_size: size, chunk_overlap: overlap, chunk_strategy: cut } = asked;
    if (size && overlap && overlap >= size) {
      throw new Failure('bad_request', `chunk_overlap (${overlap}) must be smaller than chunk_size (${size}).`, { code: 'Overlap' });
    }
    const preview = {
      ...(size ? { chunk_size: size } : {}),
      ...(overlap === null || overlap === undefined ? {} : { chunk_overlap: overlap }),
      ...(cut ? { chunk_strategy: cut } : {}),
    };
    return previewOf(file, await this.#parsing.parse({ file, strategy, preview }, signal, MOST));
  }
}

function meanOf(sum: number, count: number): number {
  return count < 1 ? 0 : sum / count;
}

function previewOf(file: SourceFile, parsed: Parsed): PreviewReply {
  const { passages, totals } = parsed;
  const { chunk_size: size, chunk_overlap: wanted, chunk_strategy: cut } = parsed.options;
  return {
    original_text: parsed.text,
    chunks: passages.map(({ text, index, start, end, metadata }) => ({
      chunk_index: index,
      content: text,
      start_position: start,
      end_position: end,
      char_count: text.length,
      word_count: text.split(/\s+/).filter((word) => word !== '').length,
      metadata,
    })),
    filename: file.name,
    size_bytes: file.sizeBytes,
    content_type: file.mimeType,
    parser_used: parsed.parser,
    chunk_strategy: typeof cut === 'string' ? cut : null,
    chunk_size: typeof size === 'number' ? size : null,
    chunk_overlap: typeof wanted === 'number' ? wanted : null,
    total_chunks: totals.passages,
    avg_chunk_size: meanOf(totals.characters, totals.passages),
    total_size_with_overlaps: totals.characters,
    avg_overlap_size: meanOf(totals.overlap, totals.passages - 1),
    warnings: [
      ...parsed.warnings,
      ...(passages.length < totals.passages ? [`The first ${passages.length} of ${totals.passages} chunks are shown.`] : []),
    ],
  };
}

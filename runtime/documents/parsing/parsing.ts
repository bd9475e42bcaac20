import { createHash } from 'node:crypto';
import { availableParallelism } from 'node:os';
import type { DataProcessingStrategy } from '../../../schemas/generated/config/rag.js';
import { canonicalJson } from '../../base/json.js';
import { log } from '../../base/log.js';
import type { Passage } from '../contract.js';
import type { ParseLimits, SourceFile } from '../parsers/contract.js';
import type { ParserOverrides, PreviewOptions } from './choose.js';
import { HostPool } from './pool.js';
import type { ReadAnswer, ReadRequest, WriteAnswer } from './read.js';
import { type ReadRecording, type ScansParts, withScannedPages, withTranscript } from './recognition.js';

const MEBIBYTE = 1024 * 1024;
/** Goes up with every change of what parsers, chunking or extractors make of a file: their output is then made anew. */
const PARSING_VERSION = 2;

/** Bounds where none are given. */
const PARSING_DEFAULTS = {
  hosts: Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2))),
  memoryBytes: 1024 * MEBIBYTE,
  timeoutMs: 120_000,
  idleMs: 30_000,
  textBytes: 64 * MEBIBYTE,
  pages: 5000,
  unpackedBytes: 256 * MEBIBYTE,
} as const;

/** Bounds of parsing; `PARSING_DEFAULTS` for those absent. */
type ParsingOptions = Partial<Record<keyof typeof PARSING_DEFAULTS | 'pingIntervalMs', number>>;

/** A file to read and how. */
export interface ParsingRequest {
  readonly file: SourceFile;
  readonly strategy: DataProcessingStrategy;
  readonly overrides?: ParserOverrides;
  readonly preview?: PreviewOptions;
}

/** What reading a file came to. */
export interface Parsed extends Omit<ReadAnswer, 'passages' | 'extractorFailures'> {
  readonly passages: readonly Passage[];
}

/** Turns files into passages, in processes that a hostile file may bring down. */
export class Parsing {
  readonly #limits: ParseLimits;
  readonly #pool: HostPool;
  readonly #scans: ScansParts | undefined;
  readonly #recordings: ReadRecording | undefined;

  /** With `scans`, pages of PDFs without a text layer are read from their images; with `recordings`, what is said in audio is written down. */
  constructor(options: ParsingOptions = {}, scans?: ScansParts, recordings?: ReadRecording) {
    this.#scans = scans;
    this.#recordings = recordings;
    const { textBytes, pages, unpackedBytes, ...pool } = { ...PARSING_DEFAULTS, ...options };
    this.#limits = { textBytes, pages, unpackedBytes };
    this.#pool = new HostPool({ ...pool, engine: new URL('./entry.js', import.meta.url) });
  }

  /** Process ids of the parse hosts, for tests and status. */
  get pids(): number[] {
    return this.#pool.pids;
  }

  /**
   * Reads a file for people to look at; with `most`, as in `ReadRequest`. Throws `Failure('invalid')` that names the file and the reason, and what the
   * signal says when it is aborted.
   */
  async parse(request: ParsingRequest, signal: AbortSignal, most?: ReadRequest['most']): Promise<Parsed> {
    const { file } = request;
    const asked = await this.#asked(request, signal);
    const answer = await this.#pool.call<ReadAnswer>('read', { request: most ? { ...asked, most } : asked }, file.name, signal);
    logFailures(file.name, answer.extractorFailures);
    const { parser, text, totals, metadata, warnings, extractors, options } = answer;
    const passages = answer.passages.map((span) => ({ ...span, text: text.slice(span.start, span.end) }));
    return { parser, text, passages, totals, metadata, warnings, extractors, options };
  }

  /** The same into a passage file at `path`, which must not be there yet; throws `disk_full` too. What a failure leaves there is of no use. */
  async write(request: ParsingRequest, path: string, signal: AbortSignal): Promise<void> {
    const { file } = request;
    const answer = await this.#pool.call<WriteAnswer>('write', { request: await this.#asked(request, signal), path }, file.name, signal);
    logFailures(file.name, answer.extractorFailures);
  }

  async #asked({ file, strategy, overrides, preview }: ParsingRequest, signal: AbortSignal): Promise<ReadRequest> {
    const seen = this.#scans ? await withScannedPages(this.#scans, file, signal) : file;
    return {
      file: this.#recordings ? await withTranscript(this.#recordings, seen, signal) : seen,
      strategy,
      limits: this.#limits,
      ...(overrides === undefined ? {} : { overrides }),
      ...(preview === undefined ? {} : { preview }),
    };
  }

  /** Names the outcome of a request: the same for the same content, name, options and version of the code. `fileHash` is the content's SHA-256. */
  key({ file, strategy, overrides, preview }: ParsingRequest, fileHash: string): string {
    const { parsers, extractors } = strategy;
    const asked = {
      version: PARSING_VERSION,
      fileHash,
      name: file.name,
      mimeType: file.mimeType,
      parsers,
      extractors,
      overrides,
      preview,
      limits: this.#limits,
      ...(this.#scans ? { scans: true } : {}),
      ...(this.#recordings ? { recordings: true } : {}),
    };
    return createHash('sha256').update(canonicalJson(asked)).digest('hex');
  }

  /** Ends the hosts; what runs is refused. */
  close(): Promise<void> {
    return this.#pool.close();
  }
}

function logFailures(file: string, failures: readonly string[]): void {
  for (const failure of failures) log('warn', 'An extractor failed.', { file, failure });
}

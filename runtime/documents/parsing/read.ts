import { stat } from 'node:fs/promises';
import { Failure } from '../../../schemas/errors.js';
import type { DataProcessingStrategy, ExtractorType, ParserType } from '../../../schemas/generated/config/rag.js';
import { chunkSpans } from '../chunking/chunk.js';
import { type PassageSpan, placed } from '../chunking/passages.js';
import type { Metadata, Passage } from '../contract.js';
import { bytesOf } from '../parsers/bytes.js';
import { type ParsedDocument, type ParseLimits, type SourceFile, unreadFormat } from '../parsers/contract.js';
import { PARSERS, parserFor, typeOf } from '../parsers/index.js';
import { type Signature, signatureOf } from '../parsers/signature.js';
import { CheckedWriter } from './checked-file.js';
import {
  autoCandidate,
  type Candidate,
  candidatesFor,
  chunkingOf,
  effectiveConfig,
  folderCandidate,
  type ParserOverrides,
  type PreviewOptions,
} from './choose.js';
import { describePassages, Enrichment, extractorsFor } from './enrich.js';
import { type Summary, writePassages } from './passage-file.js';

/** What a parse host is asked. */
export interface ReadRequest {
  readonly file: SourceFile;
  readonly strategy: DataProcessingStrategy;
  readonly overrides?: ParserOverrides;
  readonly preview?: PreviewOptions;
  /** The answer has so many passages and characters at most, the first passage always; all unless given. */
  readonly most?: { readonly passages: number; readonly characters: number };
  readonly limits: ParseLimits;
}

/** Of all passages of a file, also those that are not in an answer. */
export interface PassageTotals {
  readonly passages: number;
  /** Their lengths together, in characters. */
  readonly characters: number;
  /** Of these, what a passage has in common with the one before it. */
  readonly overlap: number;
}

/** What a parse host answers; the texts of the passages are stretches of `text`. */
export interface ReadAnswer {
  readonly parser: ParserType;
  /** Up to the end of the last passage where not all of them are here. */
  readonly text: string;
  readonly passages: readonly PassageSpan[];
  readonly totals: PassageTotals;
  /** Of the document as a whole. */
  readonly metadata: Metadata;
  readonly warnings: readonly string[];
  /** Those that ran. */
  readonly extractors: readonly ExtractorType[];
  readonly extractorFailures: readonly string[];
  /** The parser's options in effect, `chunk_size`, `chunk_overlap` and `chunk_strategy` among them. */
  readonly options: Metadata;
}

/** Reads, cuts and enriches one file, in this process. Throws `Failure('invalid')` with the reason. */
export async function readFile(request: ReadRequest): Promise<ReadAnswer> {
  const { candidate, document, enrichment, spans, passages } = await openDocument(request);
  const complete = [...passages(answeredCount(spans, request.most))];
  return {
    parser: candidate.type,
    text: complete.length === spans.length ? document.text : document.text.slice(0, complete.at(-1)?.end),
    passages: complete,
    totals: totalsOf(spans),
    metadata: document.metadata,
    warnings: document.warnings,
    extractors: enrichment.applied,
    extractorFailures: enrichment.failures,
    options: candidate.options,
  };
}

/** A file that was read and cut: its passages are completed one by one, as they are asked for. */
interface OpenedDocument {
  readonly candidate: Candidate;
  readonly document: ParsedDocument;
  readonly enrichment: Enrichment;
  /** Where all passages are. */
  readonly spans: readonly PassageSpan[];
  /** The first `count` passages. */
  passages(count: number): Iterable<PassageSpan>;
}

/** Reads and cuts one file, in this process. Throws `Failure('invalid')` with the reason. */
async function openDocument(request: ReadRequest): Promise<OpenedDocument> {
  const { candidate: configured, document } = await parseSource(request);
  const { file, strategy, preview } = request;
  const candidate = preview ? withPreviewOptions(configured, preview) : configured;
  const spans = placed(document, chunkSpans(document, chunkingOf(candidate.options)));
  if (spans.length === 0) {
    const why = document.warnings.length > 0 ? `: ${document.warnings.slice(0, 5).join('; ')}` : '';
    throw new Failure('invalid', `${file.name} holds no text${why}.`, { code: 'no_text' });
  }
  const enrichment = new Enrichment(extractorsFor(file.name, strategy.extractors ?? []));
  const describe = describePassages(file, document, candidate, spans.length);
  const { text } = document;
  return {
    candidate,
    document,
    enrichment,
    spans,
    *passages(count) {
      for (const span of spans.slice(0, count)) yield enrichment.enriched(describe(span), text.slice(span.start, span.end));
    },
  };
}

async function parseSource(request: ReadRequest): Promise<{ candidate: Candidate; document: ParsedDocument }> {
  const { file, strategy, overrides, limits } = request;
  if (file.bytes || !(await stat(file.path)).isDirectory()) {
    refuseHugeFile(file, limits);
    return parseFile(request);
  }
  const candidate = folderCandidate(file.name, strategy, overrides);
  return { candidate, document: await candidate.parser.parse(file, candidate.options, limits) };
}

/** No file is larger than an archive may unpack to: it is in memory as a whole while it is read. */
function refuseHugeFile(file: SourceFile, limits: ParseLimits): void {
  if (file.bytes || file.sizeBytes <= limits.unpackedBytes) return;
  const mebibytes = (bytes: number): number => Math.ceil(bytes / 1024 / 1024);
  throw new Failure(
    'invalid',
    `${file.name} has ${mebibytes(file.sizeBytes)} MiB; at most ${mebibytes(limits.unpackedBytes)} MiB are read.`,
    {
      code: 'too_much_text',
    },
  );
}

async function parseFile(request: ReadRequest): Promise<{ candidate: Candidate; document: ParsedDocument }> {
  const { file, strategy, overrides, limits } = request;
  const bytes = await bytesOf(file);
  const signature = await signatureOf(file, bytes);
  if (signature.kind === 'unread') throw unreadFormat(file, signature.label, signature.remedy);
  const candidates = candidatesFor(file, strategy, overrides);
  let first: unknown;
  for (const asked of candidates) {
    const candidate = correctCandidate(asked, candidates, request, signature, bytes);
    try {
      const document = await candidate.parser.parse({ ...file, bytes }, candidate.options, limits);
      const label = signature.kind === 'format' ? signature.label : 'text';
      const warning = `${file.name} is ${label}, not what its name says; it was read as that.`;
      return {
        candidate,
        document: candidate.parser === asked.parser ? document : { ...document, warnings: [warning, ...document.warnings] },
      };
    } catch (error) {
      first ??= error;
    }
  }
  throw first;
}

/** Replaces a candidate that does not read what the file is. */
function correctCandidate(
  asked: Candidate,
  all: readonly Candidate[],
  request: ReadRequest,
  signature: Signature,
  bytes: Uint8Array,
): Candidate {
  const fits = signature.kind === 'format' ? asked.parser.id === signature.parser : asked.parser.readsText === true;
  if (fits) return asked;
  const parser = actualParser(signature, bytes, request.file);
  const configured = all.find((one) => one.parser === parser);
  if (configured) return configured;
  if (asked.auto) return autoCandidate(parser, asked.auto, request.overrides);
  const type = typeOf(parser);
  return { parser, type, options: effectiveConfig({ type }, request.overrides) };
}

const HTML_START = /^\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--[\s\S]{0,500}?-->\s*)?<(?:!doctype\s+html|html)\b/i;

/** The parser that reads the content whatever the name says. */
function actualParser(signature: Signature, bytes: Uint8Array, file: SourceFile): Candidate['parser'] {
  if (signature.kind === 'format') return PARSERS.find((parser) => parser.id === signature.parser)!;
  const named = parserFor(
    { ...file, name: '' },
    PARSERS.filter((parser) => parser.readsText),
  );
  const isHtml = HTML_START.test(Buffer.from(bytes.subarray(0, 1024)).toString('latin1'));
  return PARSERS.find((parser) => parser.id === (isHtml ? 'html' : (named?.id ?? 'text')))!;
}

function withPreviewOptions(candidate: Candidate, preview: PreviewOptions): Candidate {
  const given = Object.fromEntries(Object.entries(preview).filter(([, value]) => value !== undefined && value !== null));
  return { ...candidate, options: effectiveConfig({ type: candidate.type, config: candidate.options }, { [candidate.type]: given }) };
}

/** How many passages an answer has; at least one. */
function answeredCount(spans: readonly PassageSpan[], most: ReadRequest['most']): number {
  if (!most) return spans.length;
  let characters = 0;
  const first = spans.slice(0, most.passages);
  const end = first.findIndex((span) => {
    characters += span.end - span.start;
    return characters > most.characters;
  });
  return end < 0 ? first.length : Math.max(1, end);
}

function totalsOf(spans: readonly PassageSpan[]): PassageTotals {
  let characters = 0;
  let overlap = 0;
  for (const [at, { start, end }] of spans.entries()) {
    characters += end - start;
    if (at > 0) overlap += Math.max(0, spans[at - 1]!.end - start);
  }
  return { passages: spans.length, characters, overlap };
}

/** What a parse host answers when it has written a passage file. */
export interface WriteAnswer {
  readonly summary: Summary;
  readonly extractorFailures: readonly string[];
}

/** The same into a passage file at `path`, so that nothing large goes from process to process. */
export async function writeFile(request: ReadRequest, path: string): Promise<WriteAnswer> {
  const { candidate, document, enrichment, spans, passages } = await openDocument(request);
  const { text, warnings } = document;
  const whole = function* (): Generator<Passage> {
    for (const span of passages(spans.length)) yield { ...span, text: text.slice(span.start, span.end) };
  };
  const writer = await CheckedWriter.create(path);
  try {
    const summary = await writePassages(writer, whole(), () => ({
      parser: candidate.type,
      passages: spans.length,
      warnings,
      extractors: enrichment.applied,
      options: candidate.options,
    }));
    return { summary, extractorFailures: enrichment.failures };
  } catch (error) {
    await writer.discard();
    throw error;
  }
}

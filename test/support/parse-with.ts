import type { ParsedDocument, ParseLimits, SourceFile } from '../../runtime/documents/parsers/contract.js';
import { parserOf } from '../../runtime/documents/parsers/index.js';
import { effectiveConfig } from '../../runtime/documents/parsing/choose.js';
import type { ParserType } from '../../schemas/generated/config/rag.js';

/** Bounds that small test files reach. */
export const SMALL_LIMITS: ParseLimits = { textBytes: 1024 * 1024, pages: 3, unpackedBytes: 16 * 1024 * 1024 };

/** Reads a content from memory by the parser of a type, with options over its defaults. */
export async function parseWith(
  type: ParserType,
  content: string | Uint8Array,
  config: Record<string, unknown> = {},
  name = 'x',
): Promise<ParsedDocument> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const file: SourceFile = { path: '', name, mimeType: '', sizeBytes: bytes.length, bytes };
  return parserOf(type)!.parse(file, effectiveConfig({ type, config }), SMALL_LIMITS);
}

/** Kind (with level) and text of each block of a document. */
export const blockTexts = ({ text, blocks }: ParsedDocument): string[] =>
  blocks.map((block) => `${block.kind}${block.level ?? ''} ${text.slice(block.start, block.end)}`);

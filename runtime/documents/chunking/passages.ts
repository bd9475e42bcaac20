import type { Metadata, Passage } from '../contract.js';
import type { Block, ParsedDocument } from '../parsers/contract.js';
import type { ChunkSpan } from './units.js';

/** A passage without its text, which is the stretch of the document's. */
export type PassageSpan = Omit<Passage, 'text'>;

interface Title {
  readonly text: string;
  readonly level: number;
}

/** Walks the blocks once beside the chunks and knows the titles above the present place. */
class Titles {
  readonly #document: ParsedDocument;
  #stack: Title[] = [];
  #texts: readonly string[] = [];
  #next = 0;

  constructor(document: ParsedDocument) {
    this.#document = document;
  }

  /** The titles above `place`; places must not fall. */
  at(place: number): readonly string[] {
    const { blocks, text } = this.#document;
    for (; this.#next < blocks.length && blocks[this.#next]!.start <= place; this.#next += 1) {
      const { kind, level = 1, start, end } = blocks[this.#next]!;
      if (kind !== 'heading') continue;
      const title = text.slice(start, end).replace(/^#{1,6}\s+|\s+#{0,6}\s*$|\n[=-]{1,1000}\s*$/g, '');
      this.#stack = [...this.#stack.filter((above) => above.level < level), { text: title.slice(0, 300), level }];
      this.#texts = this.#stack.map((one) => one.text);
    }
    return this.#texts;
  }
}

/** What the blocks of a chunk say, the first of them first; rows are counted. */
function mergeMetadata(blocks: readonly Block[]): Metadata {
  const metadata: Record<string, unknown> = {};
  for (const block of blocks) for (const [key, value] of Object.entries(block.metadata ?? {})) metadata[key] ??= value;
  const until = blocks.at(-1)?.metadata?.end_time;
  if (until !== undefined) metadata.end_time = until;
  const last = blocks.at(-1)?.metadata?.row_number;
  if (blocks.length > 1 && last !== undefined && metadata.row_number !== undefined) {
    metadata.row_end = last;
    metadata.row_count = blocks.length;
  }
  return metadata;
}

/** Chunks with the page, titles and metadata of the place they come from. Linear in blocks and chunks. */
export function placed(document: ParsedDocument, spans: readonly ChunkSpan[]): PassageSpan[] {
  const { blocks } = document;
  const titles = new Titles(document);
  let first = 0;
  return spans.map(({ start, core, end }, index) => {
    while (first < blocks.length && blocks[first]!.end <= core) first += 1;
    let last = first;
    while (last < blocks.length && blocks[last]!.start < end) last += 1;
    const own = blocks.slice(first, last);
    const body = own.find((block) => block.kind !== 'heading')?.start ?? end - 1;
    const headings = titles.at(Math.max(core, Math.min(body, end - 1)));
    const metadata = mergeMetadata(own);
    const page = own[0]?.page;
    const section = headings.at(-1);
    return {
      index,
      start,
      end,
      ...(page === undefined ? {} : { page }),
      headings,
      metadata: { ...(section === undefined ? {} : { section }), ...metadata, ...(page === undefined ? {} : { page }) },
    };
  });
}

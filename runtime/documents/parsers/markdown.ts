import type { Metadata } from '../contract.js';
import { encodingMetadata, textOf, withoutEmbedded } from './bytes.js';
import type { Block, Parser } from './contract.js';
import { DocumentWriter, presentMembers } from './writer.js';

const PYTHON = {
  chunk_size: 1000,
  chunk_overlap: 0,
  chunk_strategy: 'sections',
  encoding: 'utf-8',
  extract_metadata: true,
  extract_code_blocks: true,
  extract_links: true,
  extract_tables: true,
  preserve_structure: true,
};
const LLAMA_INDEX = { ...PYTHON, chunk_overlap: 100, chunk_strategy: 'headings' };
const FRONT_MATTER = /^---\r?\n([\s\S]{0,20000}?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/;
const KINDS: Readonly<Record<string, Block['kind']>> = {
  heading: 'heading',
  list: 'list',
  table: 'table',
  code: 'code',
  blockquote: 'quote',
};
const LINK_LIMIT = 1000;

/** What a walk looks at; the full types of the tree differ by node. */
interface Node {
  readonly type: string;
  readonly depth?: number;
  readonly lang?: string | null;
  readonly url?: string;
  readonly value?: string;
  readonly children?: readonly Node[];
  readonly position?: { readonly start: { readonly offset?: number }; readonly end: { readonly offset?: number } };
}

async function treeOf(source: string): Promise<Node> {
  const { fromMarkdown } = await import('mdast-util-from-markdown');
  const { gfmFromMarkdown } = await import('mdast-util-gfm');
  const { gfm } = await import('micromark-extension-gfm');
  return fromMarkdown(source, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
}

/** All nodes below, in order, without recursion: the depth is the author's. */
function* below(root: Node): Generator<Node> {
  const open: Node[] = [root];
  for (let node = open.pop(); node; node = open.pop()) {
    yield node;
    for (let index = (node.children?.length ?? 0) - 1; index >= 0; index -= 1) open.push(node.children![index]!);
  }
}

/** A node without its marks: cells apart by |, rows and items on lines of their own. */
function plain(node: Node): string {
  let text = '';
  for (const inner of below(node)) {
    if ((inner.type === 'listItem' || inner.type === 'tableRow') && text !== '') text += '\n';
    if (inner.type === 'tableCell' && !text.endsWith('\n') && text !== '') text += ' | ';
    if (inner.type === 'break') text += '\n';
    text += inner.value ?? '';
  }
  return text;
}

/** `key: value` lines of a front matter; nested ones are left out. */
function frontMatter(source: string): { fields: Metadata; length: number } {
  const match = FRONT_MATTER.exec(source);
  const lines = (match?.[1] ?? '').matchAll(/^([A-Za-z][\w-]{0,63}):[ \t]*["']?(.*?)["']?[ \t]*$/gm);
  return { fields: Object.fromEntries([...lines].map((line) => [line[1]!.toLowerCase(), line[2]!])), length: match?.[0].length ?? 0 };
}

function findings(nodes: readonly Node[], options: Metadata): Metadata {
  const headers: string[] = [];
  const links: string[] = [];
  const languages = new Set<string>();
  let codeBlocks = 0;
  let tables = 0;
  for (const node of nodes.flatMap((one) => [...below(one)])) {
    if (node.type === 'heading') headers.push(plain(node));
    else if (node.type === 'link' && node.url && links.length < LINK_LIMIT) links.push(node.url);
    else if (node.type === 'table') tables += 1;
    else if (node.type === 'code') {
      codeBlocks += 1;
      if (node.lang) languages.add(node.lang);
    }
  }
  const code = options.extract_code_blocks === false ? {} : { code_blocks: codeBlocks, code_languages: [...languages] };
  return {
    type: headers.length > 0 ? 'markdown_section' : 'markdown_document',
    headers,
    ...(options.extract_links === false ? {} : { links }),
    ...code,
    ...(options.extract_tables === false ? {} : { table_count: tables }),
  };
}

/** Adds the blocks of a Markdown text; `metadata` goes to each. Returns the top of its tree. */
export async function writeMarkdown(
  source: string,
  options: Metadata,
  writer: DocumentWriter,
  metadata: Metadata = {},
): Promise<readonly Node[]> {
  const { children: nodes = [] } = await treeOf(source);
  for (const node of nodes) {
    const written = source.slice(node.position?.start.offset ?? 0, node.position?.end.offset ?? 0);
    const kept = options.preserve_structure === false ? plain(node) : written;
    const level = node.depth === undefined ? {} : { level: node.depth };
    const all = { ...metadata, ...(node.lang ? { code_language: node.lang } : {}) };
    writer.add(KINDS[node.type] ?? 'paragraph', kept, { ...level, ...(Object.keys(all).length > 0 ? { metadata: all } : {}) });
  }
  return nodes;
}

/** Markdown with the GitHub extensions. */
export const markdown: Parser = {
  id: 'markdown',
  defaults: { MarkdownParser_Python: PYTHON, MarkdownParser_LlamaIndex: LLAMA_INDEX, MarkdownParser: PYTHON },
  extensions: ['.md', '.markdown', '.mdx', '.mkd', '.qmd'],
  mimeTypes: ['text/markdown', 'text/x-markdown'],
  readsText: true,
  async parse(file, options, limits) {
    const found = await textOf(file, options, limits);
    const text = withoutEmbedded(found.text);
    const { fields, length } = frontMatter(text);
    const writer = new DocumentWriter(file.name, limits);
    if (found.warning) writer.warnings.push(found.warning);
    const nodes = await writeMarkdown(text.slice(length), options, writer);
    // A file of nothing but front matter is still a document.
    if (writer.isEmpty) writer.add('paragraph', text);
    return writer.finish(
      options.extract_metadata === false ? {} : presentMembers({ ...fields, ...findings(nodes, options), ...encodingMetadata(found) }),
    );
  },
};

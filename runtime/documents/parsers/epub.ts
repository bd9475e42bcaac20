import { posix } from 'node:path';
import { type Archive, unpacked } from './archive.js';
import { bytesOf, decodeText } from './bytes.js';
import { damagedFile, type Parser, type SourceFile } from './contract.js';
import { htmlEncoding } from './encodings/declared.js';
import { writeHtml } from './html-blocks.js';
import { readXml } from './markup.js';
import { coreProperties } from './office.js';
import { DocumentWriter } from './writer.js';

const DEFAULTS = {
  chunk_size: 1000,
  chunk_overlap: 100,
  chunk_strategy: 'sections',
  extract_metadata: true,
  extract_tables: true,
  preserve_formatting: false,
};

function packagePath(archive: Archive, file: SourceFile): string {
  let path: string | undefined;
  readXml(archive.parts.get('META-INF/container.xml'), {
    open: (name, attributes) => {
      if (name === 'rootfile') path ??= attributes['full-path'];
    },
  });
  if (path === undefined || !archive.parts.has(path)) throw damagedFile(file, 'it names no package');
  return path;
}

/** Paths of the chapters in reading order. */
function chapters(archive: Archive, root: string): string[] {
  const items = new Map<string, string>();
  const order: string[] = [];
  readXml(archive.parts.get(root), {
    open: (name, attributes) => {
      const local = name.slice(name.indexOf(':') + 1);
      if (local === 'item' && attributes.id && attributes.href)
        items.set(attributes.id, posix.join(posix.dirname(root), decodeURI(attributes.href)));
      else if (local === 'itemref' && attributes.idref) order.push(attributes.idref);
    },
  });
  return order.flatMap((id) => items.get(id) ?? []);
}

/** Books (EPUB); a chapter file is apart from the next. */
export const epub: Parser = {
  id: 'epub',
  defaults: { EPUBParser: DEFAULTS },
  extensions: ['.epub'],
  mimeTypes: ['application/epub+zip'],
  async parse(file, options, limits) {
    const archive = unpacked(file.name, await bytesOf(file), limits, (path) => /\.(?:xml|opf|x?html?)$/i.test(path));
    if (archive.paths.includes('META-INF/rights.xml')) throw damagedFile(file, 'its content is locked by its publisher');
    const root = packagePath(archive, file);
    const writer = new DocumentWriter(file.name, limits);
    const choices = { tables: options.extract_tables !== false, images: false, formatting: options.preserve_formatting === true };
    const found = chapters(archive, root);
    found.forEach((path, index) => {
      const part = archive.parts.get(path);
      if (part) writeHtml(decodeText(part, { declared: htmlEncoding(part) }).text, writer, choices, { metadata: { chapter: index + 1 } });
      else writer.warnings.push(`Chapter ${path} is missing.`);
    });
    const core = options.extract_metadata === false ? {} : coreProperties(archive, root);
    return writer.finish({ type: 'book', ...core, chapter_count: found.length });
  },
};

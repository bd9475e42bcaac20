import { encodingMetadata, textOf } from './bytes.js';
import type { Parser } from './contract.js';
import { htmlEncoding } from './encodings/declared.js';
import { writeHtml } from './html-blocks.js';
import { DocumentWriter, presentMembers } from './writer.js';

const DEFAULTS = {
  chunk_size: 1000,
  chunk_overlap: 100,
  chunk_strategy: 'sections',
  encoding: 'utf-8',
  extract_metadata: true,
  extract_links: true,
  extract_images: true,
  extract_tables: true,
  preserve_formatting: false,
};

/** HTML and XHTML pages, without scripts, styles and navigation. */
export const html: Parser = {
  id: 'html',
  defaults: { HTMLParser: DEFAULTS },
  extensions: ['.html', '.htm', '.xhtml'],
  mimeTypes: ['text/html', 'application/xhtml+xml'],
  readsText: true,
  async parse(file, options, limits) {
    const found = await textOf(file, options, limits, htmlEncoding);
    const writer = new DocumentWriter(file.name, limits);
    if (found.warning) writer.warnings.push(found.warning);
    const { title, links, images, tableCount, headings, meta } = writeHtml(found.text, writer, {
      tables: options.extract_tables !== false,
      images: options.extract_images !== false,
      formatting: options.preserve_formatting === true,
    });
    if (options.extract_metadata === false) return writer.finish({});
    return writer.finish(
      presentMembers({
        type: 'html_document',
        title: title.trim(),
        author: meta.author,
        description: meta.description,
        headers: headings,
        links: options.extract_links === false ? undefined : links,
        images: options.extract_images === false ? undefined : images,
        table_count: tableCount,
        ...encodingMetadata(found),
      }),
    );
  },
};

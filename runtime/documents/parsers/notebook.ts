import { isObject } from '../../base/json.js';
import { encodingMetadata, textOf, withoutEmbedded } from './bytes.js';
import { damagedFile, type Parser } from './contract.js';
import { writeHtml } from './html-blocks.js';
import { writeMarkdown } from './markdown.js';
import { DocumentWriter, presentMembers } from './writer.js';

const DEFAULTS = {
  chunk_size: 1000,
  chunk_overlap: 100,
  chunk_strategy: 'sections',
  encoding: 'utf-8',
  extract_metadata: true,
  extract_outputs: true,
};
type Json = Readonly<Record<string, unknown>>;

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours of a terminal
const COLOURS = /\u001b\[[0-9;]{0,30}m/g;
const HTML_CHOICES = { tables: true, images: false, formatting: false };

const objects = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);
/** Texts are kept as one or as a list of lines. */
const textIn = (value: unknown): string => (Array.isArray(value) ? value.join('') : typeof value === 'string' ? value : '');

/** The cells of a notebook, also of format 3, which has them in sheets. */
function cellsOf(notebook: Json): Json[] {
  return Array.isArray(notebook.cells) ? objects(notebook.cells) : objects(notebook.worksheets).flatMap((sheet) => objects(sheet.cells));
}

/** What a cell printed or came to, in the best form of text that it has; pictures are left out. */
async function writeOutput(output: Json, writer: DocumentWriter, metadata: Json): Promise<void> {
  // Format 3 has the forms beside the other members.
  const forms = isObject(output.data) ? output.data : output;
  const html = textIn(forms['text/html'] ?? forms.html);
  const plain = textIn(forms['text/plain'] ?? output.text).replace(COLOURS, '');
  const isPicture = Object.keys(forms).some((type) => type.startsWith('image/') || type === 'png' || type === 'jpeg' || type === 'svg');
  if (output.output_type === 'error' || output.output_type === 'pyerr')
    writer.add('paragraph', `${textIn(output.ename)}: ${textIn(output.evalue)}`.replace(COLOURS, ''), { metadata });
  else if (forms['text/markdown'] !== undefined) await writeMarkdown(withoutEmbedded(textIn(forms['text/markdown'])), {}, writer, metadata);
  // A table says more than its picture in letters.
  else if (/<table/i.test(html)) writeHtml(html, writer, HTML_CHOICES, { metadata });
  // What stands for a figure is the name of its object.
  else if (!(isPicture && /^<[^\n]{0,500}>$/.test(plain.trim()))) writer.add('code', withoutEmbedded(plain), { metadata });
}

/** Jupyter notebooks: texts, code and its outputs, cell by cell. */
export const notebook: Parser = {
  id: 'notebook',
  defaults: { NotebookParser: DEFAULTS },
  extensions: ['.ipynb'],
  mimeTypes: ['application/x-ipynb+json'],
  readsText: true,
  async parse(file, options, limits) {
    const found = await textOf(file, options, limits);
    let content: unknown;
    try {
      content = JSON.parse(found.text);
    } catch (error) {
      throw damagedFile(file, `it is not JSON (${(error as Error).message.slice(0, 120)})`, error);
    }
    if (!isObject(content) || typeof content.nbformat !== 'number')
      throw damagedFile(file, 'it is JSON, but no notebook (it has no nbformat)');
    const about = isObject(content.metadata) ? content.metadata : {};
    const kernel = isObject(about.kernelspec) ? about.kernelspec : {};
    const language = isObject(about.language_info) ? about.language_info.name : kernel.language;
    const cells = cellsOf(content);
    const writer = new DocumentWriter(file.name, limits);
    if (found.warning) writer.warnings.push(found.warning);
    for (const [index, cell] of cells.entries()) {
      const metadata = { cell_number: index + 1 };
      const source = textIn(cell.source ?? cell.input);
      if (cell.cell_type === 'markdown') await writeMarkdown(withoutEmbedded(source), {}, writer, metadata);
      else if (cell.cell_type === 'heading') writer.add('heading', source, { level: Number(cell.level ?? 1), metadata });
      else if (cell.cell_type === 'code')
        writer.add('code', withoutEmbedded(source), { metadata: presentMembers({ ...metadata, code_language: language }) });
      else writer.add('paragraph', withoutEmbedded(source), { metadata });
      if (options.extract_outputs !== false)
        for (const output of objects(cell.outputs)) await writeOutput(output, writer, { ...metadata, output: true });
    }
    const described = {
      type: 'notebook',
      code_language: language,
      cell_count: cells.length,
      title: about.title,
      ...encodingMetadata(found),
    };
    return writer.finish(options.extract_metadata === false ? {} : presentMembers(described));
  },
};

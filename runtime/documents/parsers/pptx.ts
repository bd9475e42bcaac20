import { type Archive, unpacked } from './archive.js';
import { bytesOf } from './bytes.js';
import { isCompound } from './compound.js';
import { checkPages, damagedFile, type Parser } from './contract.js';
import { readXml } from './markup.js';
import { coreProperties } from './office.js';
import { writePowerPoint97 } from './ppt.js';
import { DocumentWriter } from './writer.js';

const DEFAULTS = {
  chunk_size: 1000,
  chunk_overlap: 0,
  chunk_strategy: 'pages',
  extract_metadata: true,
  extract_tables: true,
  extract_notes: true,
};

interface Slide {
  title: string;
  readonly paragraphs: string[];
  readonly rows: string[];
}

/** The title, paragraphs and table rows of a slide in drawing order. */
function readSlide(part: Uint8Array | undefined): Slide {
  const slide: Slide = { title: '', paragraphs: [], rows: [] };
  let text = '';
  let cell = '';
  let cells: string[] | undefined;
  let isTitle = false;
  let reading = false;
  readXml(part, {
    open: (name, attributes) => {
      if (name === 'p:sp') isTitle = false;
      else if (name === 'p:ph') isTitle = attributes.type === 'title' || attributes.type === 'ctrTitle';
      else if (name === 'a:tr') cells = [];
      else if (name === 'a:t') reading = true;
      else if (name === 'a:br') text += '\n';
    },
    text: (piece) => {
      if (reading) text += piece;
    },
    equation: (line) => {
      text += line;
    },
    close: (name) => {
      if (name === 'a:t') reading = false;
      else if (name === 'a:tc') {
        cells?.push(cell.trim());
        cell = '';
      } else if (name === 'a:tr') {
        if (cells?.some((one) => one !== '')) slide.rows.push(cells.join(' | '));
        cells = undefined;
      } else if (name === 'a:p') {
        if (cells) cell += `${text} `;
        else if (isTitle) slide.title = `${slide.title} ${text}`.trim();
        else if (text.trim() !== '') slide.paragraphs.push(text.trim());
        text = '';
      }
    },
  });
  return slide;
}

function partsNumbered(archive: Archive, pattern: RegExp): [number, Uint8Array][] {
  return [...archive.parts]
    .flatMap(([path, part]): [number, Uint8Array][] => {
      const number = pattern.exec(path)?.[1];
      return number === undefined ? [] : [[Number(number), part]];
    })
    .sort(([a], [b]) => a - b);
}

/** PowerPoint presentations (PPTX, and PPT since PowerPoint 97); a slide is a page. */
export const pptx: Parser = {
  id: 'pptx',
  defaults: { PowerPointParser: DEFAULTS },
  extensions: ['.pptx', '.pptm', '.ppsx', '.potx', '.ppt', '.pps', '.pot'],
  mimeTypes: ['application/vnd.openxmlformats-officedocument.presentationml.presentation', 'application/vnd.ms-powerpoint'],
  async parse(file, options, limits) {
    const bytes = await bytesOf(file);
    if (isCompound(bytes)) {
      const writer = new DocumentWriter(file.name, limits);
      return writer.finish(await writePowerPoint97(file, bytes, options, limits, writer));
    }
    const archive = unpacked(file.name, bytes, limits, (path) => /\.xml$/.test(path));
    if (!archive.parts.has('ppt/presentation.xml')) throw damagedFile(file, 'it has no presentation part');
    const slides = partsNumbered(archive, /^ppt\/slides\/slide(\d+)\.xml$/);
    checkPages(file, slides.length, limits);
    const notes = new Map(partsNumbered(archive, /^ppt\/notesSlides\/notesSlide(\d+)\.xml$/));
    const writer = new DocumentWriter(file.name, limits);
    for (const [number, part] of slides) {
      const slide = readSlide(part);
      const extras = { page: number, metadata: { slide_number: number } };
      writer.add('heading', slide.title, { ...extras, level: 1, apart: true });
      writer.add('paragraph', slide.paragraphs.join('\n'), extras);
      if (options.extract_tables !== false) writer.add('table', slide.rows.join('\n'), extras);
      if (options.extract_notes !== false)
        writer.add(
          'quote',
          readSlide(notes.get(number))
            .paragraphs.filter((text) => !/^\d+$/.test(text))
            .join('\n'),
          extras,
        );
    }
    const core = options.extract_metadata === false ? {} : coreProperties(archive, 'docProps/core.xml');
    return writer.finish({ type: 'presentation', ...core, page_count: slides.length });
  },
};

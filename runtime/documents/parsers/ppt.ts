import type { Metadata } from '../contract.js';
import { type Compound, openCompound } from './compound.js';
import { checkPages, damagedFile, lockedFile, type ParseLimits, type SourceFile } from './contract.js';
import type { DocumentWriter } from './writer.js';

/** Types of records of a PowerPoint 97 presentation ([MS-PPT] 2.13.24). */
const TYPE = {
  document: 0x03e8,
  slide: 0x03ee,
  slideAtom: 0x03ef,
  notes: 0x03f0,
  slidePersist: 0x03f3,
  slideList: 0x0ff0,
  textHeader: 0x0f9f,
  outlineText: 0x0f9e,
  textChars: 0x0fa0,
  textBytes: 0x0fa8,
  userEdit: 0x0ff5,
  persistDirectory: 0x1772,
  textBox: 0xf00d,
} as const;
const HEADER_BYTES = 8;

/** `headerToken` of the stream of an encrypted presentation. */
const ENCRYPTED_TOKEN = 0xf3d1c4df;

/** Instances of lists of slides: those of slides and of notes. */
const [SLIDES, NOTES] = [0, 2];

interface SlideText {
  readonly kind: number;
  readonly text: string;
}

/** Text types that are titles. */
const TITLES: readonly number[] = [0, 6];
/** What stands for the number of the page. */
const PLACEHOLDER = /^[\d*\s]*$/;

/** Reads a PowerPoint 97 presentation, a slide as a page. Throws `Failure('invalid')` with the reason. */
export async function writePowerPoint97(
  file: SourceFile,
  bytes: Uint8Array,
  options: Metadata,
  limits: ParseLimits,
  writer: DocumentWriter,
): Promise<Metadata> {
  const compound = await openCompound(file, bytes);
  const presentation = openPresentation(file, compound);
  const user = new Presentation(compound.stream('Current User') ?? new Uint8Array());
  if (user.number(HEADER_BYTES + 4) === ENCRYPTED_TOKEN) throw lockedFile(file);
  const { places, document } = presentation.persisted(user.number(HEADER_BYTES + 8));
  const root = presentation.record(places.get(document) ?? -1);
  if (root?.type !== TYPE.document) throw damagedFile(file, 'its directory of slides cannot be read');
  const slides = presentation.listed(root, SLIDES);
  checkPages(file, slides.length, limits);
  const notes = new Map(presentation.listed(root, NOTES).map((one) => [one.id, one]));
  for (const [index, slide] of slides.entries()) {
    const shapes = presentation.shapes(places.get(slide.persist) ?? -1, slide.texts);
    const said = notes.get(shapes.notes);
    const spoken = said ? presentation.shapes(places.get(said.persist) ?? -1, said.texts).texts : [];
    // Where the shapes show nothing the list still has the outline.
    const texts = shapes.texts.length > 0 ? shapes.texts : slide.texts;
    const extras = { page: index + 1, metadata: { slide_number: index + 1 } };
    const joined = (some: readonly SlideText[]): string =>
      some
        .map((one) => one.text.trim())
        .filter(Boolean)
        .join('\n');
    writer.add('heading', joined(texts.filter((one) => TITLES.includes(one.kind))), { ...extras, level: 1, apart: true });
    writer.add('paragraph', joined(texts.filter((one) => !TITLES.includes(one.kind))), extras);
    if (options.extract_notes !== false) writer.add('quote', joined(spoken.filter((one) => !PLACEHOLDER.test(one.text))), extras);
  }
  return { type: 'presentation', page_count: slides.length };
}

function openPresentation(file: SourceFile, compound: Compound): Presentation {
  const bytes = compound.stream('PowerPoint Document');
  if (!bytes) throw damagedFile(file, 'it has no presentation part');
  return new Presentation(bytes);
}

interface Record97 {
  readonly type: number;
  readonly instance: number;
  /** Of its content in the stream. */
  readonly start: number;
  readonly end: number;
  readonly isContainer: boolean;
}

/** `recVer` of a record that holds others. */
const CONTAINER = 0xf;
const DEPTH_LIMIT = 32;
const RECORD_LIMIT = 2_000_000;
const EDIT_LIMIT = 10_000;

/** A slide as the list of slides names it, with the texts that stand there. */
interface Listed {
  readonly persist: number;
  readonly id: number;
  readonly texts: SlideText[];
}

/** The stream of a presentation, read by its records. */
class Presentation {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #records = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  number(at: number): number {
    return at + 4 <= this.#bytes.length ? this.#view.getUint32(at, true) : 0;
  }

  /** The record at a place; undefined where none can be. */
  record(at: number): Record97 | undefined {
    this.#records += 1;
    if (at < 0 || at + HEADER_BYTES > this.#bytes.length || this.#records > RECORD_LIMIT) return undefined;
    const first = this.#view.getUint16(at, true);
    const start = at + HEADER_BYTES;
    const end = Math.min(this.#bytes.length, start + this.#view.getUint32(at + 4, true));
    return { type: this.#view.getUint16(at + 2, true), instance: first >> 4, start, end, isContainer: (first & CONTAINER) === CONTAINER };
  }

  /** The records in another, those inside of them too where `deep`, in order. */
  *within({ start, end }: Record97, deep = false, depth = 0): Generator<Record97> {
    for (let at = start; at < end; ) {
      const record = this.record(at);
      if (!record) return;
      yield record;
      if (deep && record.isContainer && depth < DEPTH_LIMIT) yield* this.within(record, true, depth + 1);
      at = record.end;
    }
  }

  /** The texts among records: each is introduced by its kind. `outline` are those that a record may point to. */
  texts(records: Iterable<Record97>, outline: readonly SlideText[] = []): SlideText[] {
    const found: SlideText[] = [];
    let kind = -1;
    for (const { type, start, end } of records) {
      if (type === TYPE.textHeader) kind = this.number(start);
      else if (type === TYPE.textChars || type === TYPE.textBytes) {
        const encoding = type === TYPE.textChars ? 'utf16le' : 'latin1';
        const text = Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset + start, end - start).toString(encoding);
        found.push({ kind, text: text.replace(/[\r\v]/g, '\n') });
      } else if (type === TYPE.outlineText) {
        const text = outline[this.number(start)];
        if (text) found.push(text);
      }
    }
    return found;
  }

  /** Places of objects by their number: of several edits, the last one counts. `at` is the place of the last edit. */
  persisted(at: number): { readonly places: Map<number, number>; readonly document: number } {
    const places = new Map<number, number>();
    let document = 0;
    let edit = this.record(at);
    for (let count = 0; edit?.type === TYPE.userEdit && count < EDIT_LIMIT; count += 1) {
      document ||= this.number(edit.start + 16);
      const directory = this.record(this.number(edit.start + 12));
      if (directory?.type === TYPE.persistDirectory) this.#readDirectory(directory, places);
      const before = this.number(edit.start + 8);
      edit = before === 0 ? undefined : this.record(before);
    }
    return { places, document };
  }

  /** Stretches of numbers: the first and the count in one word, then a place for each. */
  #readDirectory({ start, end }: Record97, places: Map<number, number>): void {
    for (let at = start; at + 4 <= end; ) {
      const [first, count] = [this.number(at) & 0xfffff, this.number(at) >>> 20];
      at += 4;
      for (let index = 0; index < count && at + 4 <= end; index += 1, at += 4)
        if (!places.has(first + index)) places.set(first + index, this.number(at));
    }
  }

  /** The slides, or notes, that the document lists. */
  listed(document: Record97, instance: number): Listed[] {
    const slides: Listed[] = [];
    const list = [...this.within(document)].find((one) => one.type === TYPE.slideList && one.instance === instance);
    let inside: Record97[] = [];
    const close = (): void => {
      slides.at(-1)?.texts.push(...this.texts(inside));
      inside = [];
    };
    for (const record of list ? this.within(list) : []) {
      if (record.type === TYPE.slidePersist) {
        close();
        slides.push({ persist: this.number(record.start), id: this.number(record.start + 12), texts: [] });
      } else inside.push(record);
    }
    close();
    return slides;
  }

  /** The texts of a slide's shapes in drawing order, and the number of its notes. */
  shapes(place: number, outline: readonly SlideText[]): { texts: SlideText[]; notes: number } {
    const slide = this.record(place);
    const inside = slide?.isContainer ? [...this.within(slide, true)] : [];
    const boxes = inside.filter((one) => one.type === TYPE.textBox);
    const atom = inside.find((one) => one.type === TYPE.slideAtom);
    // Its shape takes 12 bytes, its master 4.
    return { texts: boxes.flatMap((box) => this.texts(this.within(box), outline)), notes: atom ? this.number(atom.start + 16) : 0 };
  }
}

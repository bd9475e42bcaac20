import type { Page, PSM, Worker } from 'tesseract.js';
import type { OcrBox, OcrPage } from '../../contracts/ocr.js';
import { pageOf } from '../../contracts/ocr.js';

/** Modes of laying out a page, by tesseract's own numbers: found out by itself; one block of text. */
const MODES = { automatic: '3', oneBlock: '6' } as const;
/** A reading below this is tried in other ways. */
const GOOD_ENOUGH = 0.6;

/** Ways that a page lies in which it is not read, most common first, in degrees with the clock that set it upright. */
const TURNS = [180, 90, 270] as const;

/** An image in the forms in which it is read; each is made when it is needed, as PNG. */
export interface ReadableImage {
  readonly width: number;
  readonly height: number;
  asItIs(): Promise<Uint8Array>;
  withoutNoise(): Promise<Uint8Array>;
  /** With the clock. */
  turned(degrees: (typeof TURNS)[number]): Promise<Uint8Array>;
}

/**
 * Reads an image as it is; where little or nothing comes of it, turned to each side, as one block of text, and then without noise. The reading
 * with the highest confidence is the answer. Throws the reason of the signal's abort before the next step.
 */
export async function orderedReadings(worker: Worker, image: ReadableImage, signal: AbortSignal): Promise<OcrPage> {
  const reading = (png: Uint8Array, mode: string): Promise<OcrPage> => readingOf({ worker, signal }, png, mode);
  const ways = [
    async () => reading(await image.asItIs(), MODES.automatic),
    ...TURNS.map((degrees) => async () => turnedBack(await reading(await image.turned(degrees), MODES.automatic), degrees, image)),
    async () => reading(await image.asItIs(), MODES.oneBlock),
    async () => reading(await image.withoutNoise(), MODES.automatic),
  ];
  let best: OcrPage | undefined;
  for (const way of ways) {
    const other = await way();
    if (!best || other.confidence > best.confidence) best = other;
    if (best.confidence >= GOOD_ENOUGH) break;
  }
  return best!;
}

/** A page with its boxes where they stand in the image that was turned with the clock to be read. */
export function turnedBack(page: OcrPage, degrees: (typeof TURNS)[number], { width, height }: { width: number; height: number }): OcrPage {
  const point = (x: number, y: number): [number, number] =>
    degrees === 180 ? [width - x, height - y] : degrees === 90 ? [y, height - x] : [width - y, x];
  const boxes = page.boxes.map((box) => {
    const [[ax, ay], [bx, by]] = [point(box.x1, box.y1), point(box.x2, box.y2)];
    return { ...box, x1: Math.min(ax, bx), y1: Math.min(ay, by), x2: Math.max(ax, bx), y2: Math.max(ay, by) };
  });
  return { ...page, boxes };
}

/** Calls nothing of a worker that was ended because the caller has left: the library leaves that rejection to nobody, which ends the process. */
async function readingOf({ worker, signal }: { worker: Worker; signal: AbortSignal }, png: Uint8Array, mode: string): Promise<OcrPage> {
  signal.throwIfAborted();
  await worker.setParameters({ tessedit_pageseg_mode: mode as PSM });
  signal.throwIfAborted();
  const { data } = await worker.recognize(Buffer.from(png), {}, { text: false, blocks: true });
  return pageOfWords(data);
}

/** Words as boxes; words of a line are joined by a space, lines by a line end, blocks by an empty line. Words that are not believed are left out. */
export function pageOfWords({ blocks }: Pick<Page, 'blocks'>): OcrPage {
  const boxes: OcrBox[] = [];
  const texts = (blocks ?? []).map((block) =>
    block.paragraphs
      .flatMap(({ lines }) => lines)
      .map(({ words }) => {
        const kept = words.filter(({ confidence, text }) => confidence > 0 && text.trim() !== '');
        for (const { bbox, text, confidence } of kept)
          boxes.push({ x1: bbox.x0, y1: bbox.y0, x2: bbox.x1, y2: bbox.y1, text, confidence: confidence / 100 });
        return kept.map(({ text }) => text).join(' ');
      })
      .filter((line) => line !== '')
      .join('\n'),
  );
  return pageOf(texts.filter((text) => text !== '').join('\n\n'), boxes);
}

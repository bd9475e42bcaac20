import type { Page, PSM, Worker } from 'tesseract.js';
import type { OcrBox, OcrPage } from '../ocr/contract.js';
import { pageOf } from '../ocr/page.js';

/** Modes of laying out a page, by tesseract's own numbers: found out by itself; one block of text. */
const MODES = { automatic: '3', oneBlock: '6' } as const;
/** A reading below this is tried in other ways. */
const GOOD_ENOUGH = 0.6;

/**
 * Reads an image as it is; where little or nothing comes of it, as one block of text, and then without noise. The reading with the highest
 * confidence is the answer. Throws the reason of the signal's abort before the next step.
 */
export async function orderedReadings(
  worker: Worker,
  asItIs: () => Promise<Uint8Array>,
  withoutNoise: () => Promise<Uint8Array>,
  signal: AbortSignal,
): Promise<OcrPage> {
  const plain = await asItIs();
  const reading = (png: Uint8Array, mode: string): Promise<OcrPage> => readingOf({ worker, signal }, png, mode);
  let best = await reading(plain, MODES.automatic);
  if (best.confidence >= GOOD_ENOUGH) return best;
  for (const next of [() => reading(plain, MODES.oneBlock), async () => reading(await withoutNoise(), MODES.automatic)]) {
    const other = await next();
    if (other.confidence > best.confidence) best = other;
    if (best.confidence >= GOOD_ENOUGH) break;
  }
  return best;
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

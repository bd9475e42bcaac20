import type { Picture } from '../../pictures/picture.js';
import type { LoadedEngine } from './loaded.js';

/** The names that callers may ask for. */
export type OcrName = 'surya' | 'easyocr' | 'paddleocr' | 'tesseract';

/** A piece of text and where it stands: the smallest upright rectangle around it, in pixels of the image from its upper left corner. */
export interface OcrBox {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
  readonly text: string;
  /** 0 to 1. */
  readonly confidence: number;
}

/** The text of one image. */
export interface OcrPage {
  /** Pieces in reading order, joined as the engine's kind does. */
  readonly text: string;
  /** Mean over the pieces; 0 without any. */
  readonly confidence: number;
  /** Lines, or words where the engine tells them apart. */
  readonly boxes: readonly OcrBox[];
}

/** Where engines look for what they need. */
export interface OcrSearch {
  /** `{data_dir}/models`. */
  readonly folder: string;
  /** A model's folder and the files below it, relative with '/'; undefined where it is not on this machine. */
  repository(name: string): Promise<{ readonly folder: string; readonly files: readonly string[] } | undefined>;
}

/** What an engine found on disk. */
export interface OcrFiles {
  readonly sizeBytes: number;
  /** For the engine's method `open`; crosses to its process. */
  readonly body: unknown;
  readonly notes: readonly string[];
}

/** An OCR engine: what it needs on disk, and the module that reads images in a host process. */
export interface OcrEngine {
  readonly name: OcrName;
  /**
   * A host's module whose engine knows `open` (`OcrFiles.body` -> `OcrOpened`) and `read` (`Picture` -> `OcrPage`); `read` throws
   * `bad_request` that names the picture where it is none.
   */
  readonly entry: URL;
  /** Whether the languages choose its files; else one copy serves all. */
  readonly byLanguage: boolean;
  /** Images that its host reads at the same time; the others wait in the daemon. */
  readonly atOnce: number;
  /** Throws `not_found` (code `OcrModelMissing`) that says how to get what is missing. `languages` are ISO 639-1 codes or the engine's own. */
  find(languages: readonly string[], search: OcrSearch): Promise<OcrFiles>;
}

/** What opening an engine gave. */
export interface OcrOpened {
  readonly devices: { readonly requested: string; readonly available: string[]; readonly used: string[]; readonly why: string | null };
  readonly notes: string[];
}

/** An engine in memory. */
export interface OcrReader extends LoadedEngine {
  /** Throws `bad_request` for what is no image, `unavailable` when its process dies. */
  read(picture: Picture, signal: AbortSignal): Promise<OcrPage>;
}

/** A page of its pieces: its confidence is their mean. */
export function pageOf(text: string, boxes: readonly OcrBox[]): OcrPage {
  const sum = boxes.reduce((total, { confidence }) => total + confidence, 0);
  return { text, confidence: boxes.length === 0 ? 0 : sum / boxes.length, boxes };
}

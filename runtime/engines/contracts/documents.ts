import type { Picture } from '../../pictures/picture.js';
import type { LoadedEngine } from './loaded.js';
import type { OcrBox } from './ocr.js';

/** What a document is looked at for. */
export type DocumentTask = 'extraction' | 'vqa' | 'classification';

/** A value that a document holds. */
export interface DocumentField {
  readonly key: string;
  readonly value: string;
  /** 0 to 1: the mean probability of the tokens that it was made of. */
  readonly confidence: number;
  /** Upper left and lower right corner in pixels, where the model knows. */
  readonly bbox: readonly [number, number, number, number] | null;
}

/** What a model says of one document; only what belongs to the task is there. */
export interface DocumentAnswer {
  /** 0 to 1, from the probabilities of what the model wrote or chose. */
  readonly confidence: number;
  readonly text?: string;
  readonly fields?: readonly DocumentField[];
  readonly answer?: string;
  readonly classification?: string;
  /** Probability by label. */
  readonly classificationScores?: Readonly<Record<string, number>>;
}

/** One document to look at. */
export interface DocumentQuestion {
  readonly picture: Picture;
  readonly task: DocumentTask;
  readonly prompt: string | null;
  /** Its words, for models that ask for them. */
  readonly words?: readonly OcrBox[];
}

/** The files of a model, as the finder gives them. */
export interface DocumentFiles {
  /** As the caller named it. */
  readonly name: string;
  readonly folder: string;
  /** The graphs that it is opened with; below the folder, relative, with '/'. */
  readonly files: readonly string[];
  readonly threads: number;
}

/** What opening a model gave. */
export interface DocumentOpened {
  /** Whether it reads words that an OCR engine found. */
  readonly needsWords: boolean;
  readonly devices: { readonly requested: string; readonly available: string[]; readonly used: string[]; readonly why: string | null };
  readonly notes: string[];
}

/** A document model in memory. */
export interface DocumentModel extends LoadedEngine {
  readonly needsWords: boolean;
  ask(question: DocumentQuestion, signal: AbortSignal): Promise<DocumentAnswer>;
}

export { LISTEN_RATE } from '../../engines/contracts/transcribing.js';

/** What a file is, by its bytes: a container or a coding. */
export type AudioKind = 'wav' | 'flac' | 'mp3' | 'ogg' | 'webm' | 'mp4' | 'aac' | 'raw';

/** The bytes of a file, read where they are needed. For a worker thread: reading waits for the disk. */
export interface FileBytes {
  readonly size: number;
  /** Bytes from `at` on; fewer at the end. They are the reader's. */
  read(at: number, length: number): Uint8Array;
}

/** Samples of one channel, all other channels mixed in, at the rate of the file. */
export interface DecodedAudio {
  /** Hz. */
  readonly rate: number;
  readonly samples: Float32Array;
}

/** Reads files of one kind: one file in this folder for each, listed in `index.ts`. */
export interface AudioReader {
  /** Audio in pieces of some seconds at most. Throws Failure('bad_request') that says what is wrong with the file. */
  read(file: FileBytes): AsyncIterable<DecodedAudio> | Iterable<DecodedAudio>;
}

/** Bytes that readers take from a file at a time. */
const PIECE_BYTES = 64 * 1024;

/** A file's bytes in pieces, from `at` on. */
export function* piecesOf(file: FileBytes, at = 0): Generator<Uint8Array> {
  for (let from = at; from < file.size; from += PIECE_BYTES) yield file.read(from, PIECE_BYTES);
}

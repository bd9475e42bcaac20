/** Pixels of one image at most: a decoder would need 160 MB for more. */
export const PIXEL_LIMIT = 40_000_000;
/** Encoded bytes of one image at most. */
export const PICTURE_BYTES = 64 * 1024 * 1024;

/** An encoded image: its bytes, or where they lie. Its content is untrusted. */
export interface Picture {
  /** For messages, such as `images[1]` or `scan.pdf, page 3`. */
  readonly name: string;
  readonly bytes?: Uint8Array;
  readonly path?: string;
}

/** A decoded image: 8 bits a channel, RGB or gray, rows from the top without padding. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly channels: 1 | 3;
  readonly data: Uint8Array;
}

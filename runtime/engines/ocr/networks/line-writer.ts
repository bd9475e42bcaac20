import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pixels } from '../../../pictures/picture.js';
import { writerFiles } from '../../image-text/graphs.js';
import { meanOf } from '../../image-text/greedy.js';
import { ImageWriter } from '../../image-text/image-writer.js';
import type { OnnxOptions } from '../../onnx/contract.js';

/** Reads the image of one line by writing it, as surya and TrOCR do. */
export class LineWriter {
  readonly #writer: ImageWriter;

  private constructor(writer: ImageWriter) {
    this.#writer = writer;
  }

  /** Opens the encoder and decoder of a folder or of its folder `onnx`, in the best format that they share. */
  static async open(folder: string, options: OnnxOptions): Promise<LineWriter> {
    const inner = await readdir(join(folder, 'onnx')).catch(() => [] as string[]);
    const files = [...(await readdir(folder)), ...inner.map((file) => `onnx/${file}`)];
    return new LineWriter(await ImageWriter.open(folder, writerFiles(files), options));
  }

  /** The text of a line and the mean probability of its tokens. */
  async write(line: Pixels, signal: AbortSignal): Promise<{ text: string; confidence: number }> {
    const chosen = await this.#writer.write(line, [], signal);
    return { text: this.#writer.tokens.plain(chosen.map(({ id }) => id)).trim(), confidence: meanOf(chosen) };
  }
}

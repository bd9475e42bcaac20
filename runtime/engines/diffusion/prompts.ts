import type { Sessions } from './graphs.js';
import { fault, type PipelineFolder } from './pipeline-folder.js';
import { type Embedded, TextEncoder } from './text-encoder.js';

/** Turns prompts into what the network is told, by one text encoder or two. */
export class PromptEncoder {
  readonly #encoders: readonly TextEncoder[];
  /** An empty negative prompt is all zeros, as the pipeline was trained. */
  readonly #zeros: boolean;

  constructor(folder: PipelineFolder, { text, text2 }: Sessions) {
    this.#encoders = text2
      ? [new TextEncoder(folder, text, '', true), new TextEncoder(folder, text2, '_2', true)]
      : [new TextEncoder(folder, text, '', false)];
    this.#zeros = text2 !== undefined && folder.json('model_index.json')?.force_zeros_for_empty_prompt !== false;
  }

  /** Without and with the prompt; only the prompt where `negative` is undefined, and nothing is guided. */
  async encode(prompt: string, negative: string | undefined): Promise<Embedded[]> {
    const wanted = await this.#one(prompt);
    if (negative === undefined) return [wanted];
    return [negative === '' && this.#zeros ? zeros(wanted) : await this.#one(negative), wanted];
  }

  async #one(prompt: string): Promise<Embedded> {
    const [first, second] = await this.#all(prompt);
    return second ? sideBySide(first!, second) : first!;
  }

  async #all(prompt: string): Promise<Embedded[]> {
    const out: Embedded[] = [];
    for (const encoder of this.#encoders) out.push(await encoder.encode(prompt));
    return out;
  }
}

function zeros({ length, width, rows, pooled }: Embedded): Embedded {
  const empty = { length, width, rows: new Float32Array(rows.length) };
  return pooled ? { ...empty, pooled: new Float32Array(pooled.length) } : empty;
}

/** Rows of both encoders joined; the vector of the whole is the second's. */
function sideBySide(first: Embedded, second: Embedded): Embedded {
  if (first.length !== second.length) throw fault('text encoders', `give ${first.length} and ${second.length} rows`);
  const width = first.width + second.width;
  const rows = new Float32Array(first.length * width);
  for (let row = 0; row < first.length; row += 1) {
    rows.set(first.rows.subarray(row * first.width, (row + 1) * first.width), row * width);
    rows.set(second.rows.subarray(row * second.width, (row + 1) * second.width), row * width + first.width);
  }
  return { length: first.length, width, rows, ...(second.pooled ? { pooled: second.pooled } : {}) };
}

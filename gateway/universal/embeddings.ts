import { endianness } from 'node:os';
import { loadCore } from '../../native/loader.js';
import { breathe } from '../../runtime/base/loop.js';
import { type Endpoint, endpoint, type Reply, type Request } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { EmbeddingRequest } from '../../schemas/generated/universal/encoders.js';
import { askOf, type EncodersContext, TEXTS_BYTES, usageOf } from './encoders.js';

/** What a number of a vector needs at most, comma included. */
const NUMBER_BYTES = 16;
/** And what stands around each vector. */
const ROW_BYTES = 80;

/** The texts of a request. Throws `invalid` for token ids, which some clients send for models of their own. */
function textsOf({ input }: EmbeddingRequest): string[] {
  if (typeof input === 'string') return [input];
  const at = input.findIndex((item) => typeof item !== 'string');
  if (at < 0) return input as string[];
  const msg = `input[${at}] is ${typeof input[at] === 'number' ? 'a token id' : 'a list of token ids'}, which is not supported`;
  throw new Failure('invalid', `${msg}: tokenizers differ between models. Send texts.`, {
    code: 'TokensNotSupported',
    errors: [{ type: 'string_type', loc: ['body', 'input', at], msg }],
  });
}

/** Writes a list of vectors as JSON into one piece of memory, without text in between that would have to be collected. */
class VectorWriter {
  readonly #into: Buffer;
  readonly #base64: boolean;
  #at = 0;

  constructor(vectors: readonly Float32Array[], base64: boolean, around: string) {
    const numbers = vectors.reduce((sum, { length }) => sum + length, 0);
    // Pages that nothing is written to are never given out.
    this.#into = Buffer.allocUnsafe(numbers * NUMBER_BYTES + vectors.length * ROW_BYTES + 3 * around.length);
    this.#base64 = base64;
  }

  text(text: string): void {
    this.#at += this.#into.write(text, this.#at);
  }

  /** Numbers, or base64 of their 32-bit floats, low byte first. */
  vector(vector: Float32Array): void {
    if (!this.#base64) {
      this.text('[');
      this.#at = loadCore().writeFloats(vector, this.#into, this.#at);
      this.text(']');
      return;
    }
    const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
    this.text(`"${(endianness() === 'LE' ? bytes : Buffer.from(bytes).swap32()).toString('base64')}"`);
  }

  get written(): Buffer {
    return this.#into.subarray(0, this.#at);
  }
}

/** What stands around vectors in an answer. */
interface VectorFrame {
  readonly head: string;
  /** Before a vector, at most `ROW_BYTES` together with what is behind it. */
  readonly row: (index: number) => string;
  readonly rowEnd: string;
  readonly end: string;
  readonly base64?: boolean;
}

/** A whole answer with vectors as JSON; thousands of them are written a few at a time, so that other requests go on meanwhile. */
export async function vectorsBody(vectors: readonly Float32Array[], frame: VectorFrame, signal: AbortSignal): Promise<Buffer> {
  const { head, row, rowEnd, end, base64 = false } = frame;
  const writer = new VectorWriter(vectors, base64, head + end);
  writer.text(head);
  for (const [index, vector] of vectors.entries()) {
    // A batch of many requests ends at once: each waits for its turn before it begins to write.
    await breathe();
    signal.throwIfAborted();
    writer.text((index === 0 ? '' : ',') + row(index));
    writer.vector(vector);
    writer.text(rowEnd);
  }
  writer.text(end);
  return writer.written;
}

async function embed({ encoders }: EncodersContext, request: Request): Promise<Reply> {
  const body = request.body as EmbeddingRequest;
  const { vectors, tokens } = await encoders.embed(askOf(body, request), textsOf(body), body.dimensions ?? undefined);
  const frame = {
    head: '{"object":"list","data":[',
    row: (index: number) => `{"object":"embedding","index":${index},"embedding":`,
    rowEnd: '}',
    end: `],"model":${JSON.stringify(body.model)},"usage":${JSON.stringify(usageOf(tokens))}}`,
    base64: body.encoding_format === 'base64',
  };
  const bytes = await vectorsBody(vectors, frame, request.signal);
  return { bytes, contentType: 'application/json' };
}

/** Vectors of texts. */
export const embeddingEndpoints: Endpoint<EncodersContext>[] = [
  endpoint({
    method: 'POST',
    path: '/v1/embeddings',
    id: 'create_embeddings',
    access: 'users',
    summary: 'Turn texts into vectors of length 1',
    tag: 'encoders',
    body: 'universal/encoders#EmbeddingRequest',
    response: 'universal/encoders#EmbeddingResponse',
    bodyLimitBytes: TEXTS_BYTES,
    errorShape: 'openai',
    handler: embed,
  }),
];

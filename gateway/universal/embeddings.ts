import { endianness } from 'node:os';
import { breathe } from '../../runtime/loop.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type Endpoint, endpoint, type Reply, type Request } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { EmbeddingRequest } from '../../schemas/generated/universal/encoders.js';
import { askOf, TEXTS_BYTES, usageOf } from './encoder-asks.js';

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

/** A vector as JSON text: numbers, or base64 of its 32-bit floats, low byte first. */
function written(vector: Float32Array, base64: boolean): string {
  if (!base64) return `[${vector.join(',')}]`;
  const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
  return `"${(endianness() === 'LE' ? bytes : Buffer.from(bytes).swap32()).toString('base64')}"`;
}

/** The whole answer as JSON text; thousands of vectors are written a few at a time, so that other requests go on meanwhile. */
async function bodyOf(
  model: string,
  vectors: readonly Float32Array[],
  tokens: number,
  base64: boolean,
  signal: AbortSignal,
): Promise<string> {
  const rows: string[] = [];
  for (const [index, vector] of vectors.entries()) {
    rows.push(`{"object":"embedding","index":${index},"embedding":${written(vector, base64)}}`);
    await breathe();
    signal.throwIfAborted();
  }
  return `{"object":"list","data":[${rows.join(',')}],"model":${JSON.stringify(model)},"usage":${JSON.stringify(usageOf(tokens))}}`;
}

async function embed(runtime: Runtime, request: Request): Promise<Reply> {
  const body = request.body as EmbeddingRequest;
  const { vectors, tokens } = await runtime.encoders.embed(askOf(body, request), textsOf(body), body.dimensions ?? undefined);
  const bytes = await bodyOf(body.model, vectors, tokens, body.encoding_format === 'base64', request.signal);
  return { bytes, contentType: 'application/json' };
}

/** Vectors of texts. */
export const embeddingEndpoints: Endpoint<Runtime>[] = [
  endpoint({
    method: 'POST',
    path: '/v1/embeddings',
    id: 'create_embeddings',
    summary: 'Turn texts into vectors of length 1',
    tag: 'encoders',
    body: 'universal/encoders#EmbeddingRequest',
    response: 'universal/encoders#EmbeddingResponse',
    bodyLimitBytes: TEXTS_BYTES,
    errorShape: 'openai',
    handler: embed,
  }),
];

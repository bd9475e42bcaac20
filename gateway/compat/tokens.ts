import type { UniversalRequest } from '../../runtime/completions/request.js';
import { refuseAdapters } from '../../runtime/completions/settings.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type Endpoint, endpoint, type Reply, type Request } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { DetokenizeRequest, TemplateRequest, TokenizeRequest } from '../../schemas/generated/universal/texts.js';
import { CHAT_BODY_BYTES } from '../http/body.js';

/** Tokens that are told, and those that are told with their texts. */
const TOKEN_LIMIT = 262_144;
/** Longer texts have more tokens than are told at a time. */
const TEXT_BYTES = 4 * 1024 ** 2;
const PIECE_LIMIT = 10_000;

/** The model that a request names, else the one that is in memory. */
function modelOf({ models }: Runtime, model: string | undefined): string {
  if (model !== undefined) return model;
  // One that is there with several settings is one.
  const [only, ...others] = new Set(models.loaded().flatMap(({ type, name }) => (type === 'language' ? [name] : [])));
  if (only !== undefined && others.length === 0) return only;
  throw new Failure(
    'bad_request',
    `model is missing, and ${only ? 'several language models are' : 'no language model is'} in memory: name one.`,
  );
}

function requestOf(runtime: Runtime, body: TokenizeRequest | TemplateRequest): UniversalRequest {
  refuseAdapters(body);
  const wanted: UniversalRequest = { model: modelOf(runtime, body.model), messages: body.messages ?? [], options: {}, autoTruncate: false };
  if (body.tools?.length) wanted.tools = body.tools;
  return wanted;
}

/** Each token with its text; the bytes of a part of a character are shown as a replacement mark. */
async function piecesOf(runtime: Runtime, wanted: UniversalRequest, tokens: Int32Array, { signal }: Request): Promise<object[]> {
  if (tokens.length > PIECE_LIMIT)
    throw new Failure(
      'bad_request',
      `with_pieces tells the texts of up to ${PIECE_LIMIT} tokens, and there are ${tokens.length}; send less text.`,
    );
  const texts = await runtime.completions.textsOf(
    wanted,
    Array.from(tokens, (id) => Int32Array.of(id)),
    signal,
  );
  return Array.from(tokens, (id, index) => ({ id, piece: texts[index] }));
}

async function tokenize(runtime: Runtime, request: Request): Promise<Reply> {
  const body = request.body as TokenizeRequest;
  const wanted = requestOf(runtime, body);
  const content = body.content ?? body.prompt;
  if (content === undefined && !body.messages) throw new Failure('bad_request', 'Nothing to tokenise: send content, prompt or messages.');
  if (content !== undefined)
    wanted.raw = { content, framed: body.add_special ?? body.add_special_tokens ?? false, plain: body.parse_special === false };
  const { tokens, contextSize } = await runtime.completions.render(wanted, request.signal);
  if (tokens.length > TOKEN_LIMIT)
    throw new Failure('too_large', `The text has ${tokens.length} tokens, and up to ${TOKEN_LIMIT} are told at a time; send it in parts.`);
  const shown = body.with_pieces ? await piecesOf(runtime, wanted, tokens, request) : Array.from(tokens);
  return { json: { tokens: shown, count: tokens.length, max_model_len: contextSize } };
}

async function detokenize(runtime: Runtime, { body, signal }: Request): Promise<Reply> {
  const { model, tokens } = body as DetokenizeRequest;
  const [text = ''] = await runtime.completions.textsOf({ model: modelOf(runtime, model), options: {} }, [Int32Array.from(tokens)], signal);
  return { json: { content: text, prompt: text } };
}

async function applyTemplate(runtime: Runtime, { body, signal }: Request): Promise<Reply> {
  const asked = body as TemplateRequest;
  const wanted = requestOf(runtime, asked);
  if (asked.chat_template) wanted.chat_template = asked.chat_template;
  const { text } = await runtime.completions.render(wanted, signal);
  return { json: { prompt: text } };
}

const common = { access: 'users', tag: 'texts', bodyLimitBytes: CHAT_BODY_BYTES, errorShape: 'openai' } as const;

/** What the servers of llama.cpp and vLLM tell of a model's tokens and template. */
export const tokenEndpoints: Endpoint<Runtime>[] = [
  endpoint({
    ...common,
    method: 'POST',
    path: '/tokenize',
    id: 'tokenize',
    summary: 'Turn a text or a conversation into tokens',
    body: 'universal/texts#TokenizeRequest',
    bodyLimitBytes: TEXT_BYTES,
    response: 'universal/texts#TokenizeResponse',
    handler: tokenize,
  }),
  endpoint({
    ...common,
    method: 'POST',
    path: '/detokenize',
    id: 'detokenize',
    summary: 'Turn tokens into text',
    body: 'universal/texts#DetokenizeRequest',
    response: 'universal/texts#DetokenizeResponse',
    handler: detokenize,
  }),
  endpoint({
    ...common,
    method: 'POST',
    path: '/apply-template',
    id: 'apply_template',
    summary: "Write a conversation by the model's template",
    body: 'universal/texts#TemplateRequest',
    response: 'universal/texts#TemplateResponse',
    handler: applyTemplate,
  }),
];

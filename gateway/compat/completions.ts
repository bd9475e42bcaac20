import { randomUUID } from 'node:crypto';
import { breathe } from '../../runtime/base/loop.js';
import { collectChoices } from '../../runtime/completions/collect.js';
import {
  type CollectedCompletion,
  type CompletionPart,
  cachedDetails,
  cachedTokens,
  type TokenLogprob,
} from '../../runtime/completions/contract.js';
import type { UniversalRequest } from '../../runtime/completions/request.js';
import { formFields, generationSettings, languageOptions, refuseOtherAdapters } from '../../runtime/completions/settings.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type Endpoint, endpoint, type Reply, type Request } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { Usage } from '../../schemas/generated/common.js';
import type { TextRequest } from '../../schemas/generated/universal/texts.js';
import { CHAT_BODY_BYTES } from '../http/body.js';
import { errorBody, failureOf } from '../http/errors.js';

/** As OpenAI has it. */
const DEFAULT_MAX_TOKENS = 16;
/** Answers to all prompts of a request together. */
const ANSWER_LIMIT = 64;
const SAME = ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'logit_bias', 'seed', 'user'] as const;

type Prompt = string | Int32Array;

/** The logprobs of an answer as this API has them: by token, with where each begins in the text. */
class OldLogprobs {
  readonly tokens: string[] = [];
  readonly token_logprobs: number[] = [];
  readonly top_logprobs: Record<string, number>[] = [];
  readonly text_offset: number[] = [];

  /** `at` = where the first of them begins in the text of the choice. */
  constructor(logprobs: readonly TokenLogprob[], at: number) {
    let offset = at;
    for (const { token, logprob, top_logprobs: top } of logprobs) {
      this.tokens.push(token);
      this.token_logprobs.push(logprob);
      this.top_logprobs.push(Object.fromEntries(top.map((one) => [one.token, one.logprob])));
      this.text_offset.push(offset);
      offset += token.length;
    }
  }
}

/** The prompts of a request: tokens are one, a list of texts or of lists of tokens is several. */
function promptsOf({ prompt }: TextRequest): Prompt[] {
  if (prompt === undefined || prompt === null) return [''];
  if (typeof prompt === 'string') return [prompt];
  if (typeof prompt[0] === 'number') return [Int32Array.from(prompt as number[])];
  return (prompt as (string | number[])[]).map((one) => (typeof one === 'string' ? one : Int32Array.from(one)));
}

function requestOf(body: TextRequest, content: Prompt): UniversalRequest {
  const extra = body.extra_body ?? {};
  refuseOtherAdapters(body, extra);
  const wanted: UniversalRequest = {
    model: body.model,
    messages: [],
    raw: { content, ...(body.suffix ? { suffix: body.suffix } : {}) },
    options: languageOptions({}, extra),
    form: formFields({}, extra),
    autoTruncate: false,
    stream: body.stream === true,
    max_tokens: body.max_tokens ?? DEFAULT_MAX_TOKENS,
  };
  for (const name of SAME) if (body[name] !== undefined && body[name] !== null) Object.assign(wanted, { [name]: body[name] });
  Object.assign(wanted, generationSettings({ lora: body.lora }, extra));
  if (body.stop !== undefined && body.stop !== null) wanted.stop = [body.stop].flat();
  if (body.n && body.n > 1) wanted.n = body.n;
  if (body.logprobs !== undefined && body.logprobs !== null) Object.assign(wanted, { logprobs: true, top_logprobs: body.logprobs });
  return wanted;
}

/** Refuses what contradicts itself or cannot be known here. */
function check(body: TextRequest, prompts: readonly Prompt[]): void {
  const n = body.n ?? 1;
  if (prompts.length === 0) throw new Failure('bad_request', 'prompt is an empty list; send a text, tokens, or a list of either.');
  if (prompts.length * n > ANSWER_LIMIT)
    throw new Failure(
      'bad_request',
      `${prompts.length} prompts with ${n} answers each are more than ${ANSWER_LIMIT}; send fewer at a time.`,
    );
  if (body.best_of && body.best_of !== n)
    throw new Failure('bad_request', `best_of is ${body.best_of}: answers are not chosen among here; leave it out, and use n.`);
  if (body.echo && body.logprobs !== undefined && body.logprobs !== null)
    throw new Failure('bad_request', 'echo with logprobs needs the logprobs of the prompt, which are not kept; leave one of the two out.');
  if (body.suffix && prompts.some((prompt) => typeof prompt !== 'string'))
    throw new Failure('bad_request', 'suffix needs a prompt that is text.');
  if (body.max_tokens === 0 && !body.echo) throw new Failure('bad_request', 'max_tokens is 0, so there is no answer; give at least 1.');
}

/** What stands before each answer of a prompt. */
async function echoOf(runtime: Runtime, wanted: UniversalRequest, body: TextRequest, { signal }: Request): Promise<string> {
  if (!body.echo) return '';
  const { content } = wanted.raw!;
  if (typeof content === 'string') return content;
  const [text = ''] = await runtime.completions.textsOf(wanted, [content], signal);
  return text;
}

/** The prompt alone. */
async function promptEcho(runtime: Runtime, wanted: UniversalRequest, signal: AbortSignal): Promise<CollectedCompletion[]> {
  const { tokens } = await runtime.completions.render(wanted, signal);
  const usage = { prompt_tokens: tokens.length, completion_tokens: 0, total_tokens: tokens.length };
  return Array.from({ length: wanted.n ?? 1 }, () => ({
    text: '',
    reasoning: '',
    toolCalls: [],
    logprobs: [],
    finishReason: 'length',
    usage,
  }));
}

async function answersOf(runtime: Runtime, wanted: UniversalRequest, signal: AbortSignal): Promise<CollectedCompletion[]> {
  if (wanted.max_tokens === 0) return promptEcho(runtime, wanted, signal);
  return collectChoices((await runtime.completions.open(wanted, signal)).parts);
}

/** The counts of several prompts, each with choices of its own. */
function usageOf(prompts: readonly (readonly Pick<CollectedCompletion, 'usage'>[])[]): Usage {
  const prompt_tokens = prompts.reduce((sum, [one]) => sum + (one?.usage.prompt_tokens ?? 0), 0);
  const completion_tokens = prompts.flat().reduce((sum, { usage }) => sum + usage.completion_tokens, 0);
  const cached = prompts.reduce((sum, [one]) => sum + (one ? cachedTokens(one.usage) : 0), 0);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens, ...cachedDetails(cached) };
}

const headOf = (model: string) => ({
  id: `cmpl-${randomUUID().replaceAll('-', '')}`,
  object: 'text_completion',
  created: Math.floor(Date.now() / 1000),
  model,
});

async function wholeAnswer(runtime: Runtime, body: TextRequest, prompts: readonly Prompt[], request: Request): Promise<Reply> {
  const answers = await Promise.all(
    prompts.map(async (prompt) => {
      // Many prompts are begun one by one, in turns of the loop.
      await breathe();
      const wanted = requestOf(body, prompt);
      const echo = await echoOf(runtime, wanted, body, request);
      return (await answersOf(runtime, wanted, request.signal)).map((answer) => ({ ...answer, echo }));
    }),
  );
  const choices = answers.flat().map(({ echo, text, logprobs, finishReason }, index) => ({
    text: echo + text,
    index,
    logprobs: body.logprobs === undefined || body.logprobs === null ? null : { ...new OldLogprobs(logprobs, echo.length) },
    finish_reason: finishReason === 'length' ? 'length' : 'stop',
  }));
  return { json: { ...headOf(body.model), choices, usage: usageOf(answers) } };
}

/** The frames of one prompt's answers, whose first choice has the number `first`; what they count goes into `ends`. */
async function* promptFrames(
  parts: AsyncIterable<CompletionPart>,
  frame: (choice: object) => string,
  { first, echo, ends }: { first: number; echo: string; ends: { usage: Usage }[] },
): AsyncGenerator<string, void, undefined> {
  const lengths = new Map<number, number>();
  for await (const part of parts) {
    const { choice = 0 } = part;
    const index = first + choice;
    const at = lengths.get(choice);
    const before = at === undefined ? echo : '';
    if (part.type === 'text') {
      const logprobs = part.logprobs ? { ...new OldLogprobs(part.logprobs, at ?? echo.length) } : null;
      yield frame({ text: before + part.text, index, logprobs, finish_reason: null });
      lengths.set(choice, (at ?? echo.length) + part.text.length);
    } else if (part.type === 'finish') {
      ends.push(part);
      yield frame({ text: before, index, logprobs: null, finish_reason: part.reason === 'length' ? 'length' : 'stop' });
    }
  }
}

async function streamAnswer(runtime: Runtime, body: TextRequest, prompts: readonly Prompt[], request: Request): Promise<Reply> {
  const head = headOf(body.model);
  const frame = (choice: object): string => `data: ${JSON.stringify({ ...head, choices: [choice] })}\n\n`;
  const begin = async (prompt: Prompt) => {
    const wanted = requestOf(body, prompt);
    return { echo: await echoOf(runtime, wanted, body, request), completion: await runtime.completions.open(wanted, request.signal) };
  };
  // What the first prompt fails with gets a status of its own.
  const opened = await begin(prompts[0]!);
  async function* frames(): AsyncGenerator<string, void, undefined> {
    const counted: { usage: Usage }[][] = [];
    try {
      for (const [index, prompt] of prompts.entries()) {
        const { echo, completion } = index === 0 ? opened : await begin(prompt);
        const ends: { usage: Usage }[] = [];
        counted.push(ends);
        yield* promptFrames(completion.parts, frame, { first: index * (body.n ?? 1), echo, ends });
      }
      const usage = body.stream_options?.include_usage
        ? `data: ${JSON.stringify({ ...head, choices: [], usage: usageOf(counted) })}\n\n`
        : '';
      yield `${usage}data: [DONE]\n\n`;
    } catch (error) {
      yield `data: ${JSON.stringify(errorBody(failureOf(error), 'openai', request.id))}\n\ndata: [DONE]\n\n`;
    }
  }
  return { events: frames() };
}

async function complete(runtime: Runtime, request: Request): Promise<Reply> {
  const body = request.body as TextRequest;
  const prompts = promptsOf(body);
  check(body, prompts);
  return body.stream && body.max_tokens !== 0
    ? streamAnswer(runtime, body, prompts, request)
    : wholeAnswer(runtime, body, prompts, request);
}

/** OpenAI's completions of plain texts. */
export const completionEndpoints: Endpoint<Runtime>[] = [
  endpoint({
    method: 'POST',
    path: '/v1/completions',
    id: 'create_completion',
    access: 'users',
    summary: 'Go on with a text',
    tag: 'texts',
    body: 'universal/texts#TextRequest',
    response: 'universal/texts#TextResponse',
    streams: true,
    bodyLimitBytes: CHAT_BODY_BYTES,
    errorShape: 'openai',
    handler: complete,
  }),
];

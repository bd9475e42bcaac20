/**
 * Requests to the daemon that serves this page. Each failure is an `ApiError` whose message is a sentence for people: the daemon's own `detail`, or what
 * is wrong with the connection.
 */
import { connection } from './connection.svelte';
import { key } from './key.svelte';

/** A request that failed: the daemon refused it, or it was not reached. */
export class ApiError extends Error {
  /** HTTP status; 0 when no answer came. */
  readonly status: number;
  /** The daemon's code of the failure, such as `not_found`; `unreachable` when no answer came. */
  readonly code: string;
  /** What is wrong with which part of the request, where the daemon says so. */
  readonly problems: readonly { loc: readonly (string | number)[]; msg: string }[];

  constructor(status: number, code: string, message: string, problems: ApiError['problems'] = []) {
    super(message);
    this.status = status;
    this.code = code;
    this.problems = problems;
  }
}

/** Whether an error says that the caller itself ended the request. */
export const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError';

/** What went wrong, as a sentence. */
export const sentence = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The path of a project's endpoints. */
export const projectPath = (namespace: string, project: string): string =>
  `/v1/projects/${encodeURIComponent(namespace)}/${encodeURIComponent(project)}`;

type Options = Omit<RequestInit, 'body'> & {
  /** Sent as JSON. */
  json?: unknown;
  body?: BodyInit;
};

/** The answer of the daemon as it comes. Throws `ApiError` unless it is a success. */
export async function ask(path: string, { json, headers, ...rest }: Options = {}): Promise<Response> {
  const init: RequestInit = {
    ...rest,
    headers: { ...key.headers(), ...(json === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    ...(json === undefined ? {} : { body: JSON.stringify(json), method: rest.method ?? 'POST' }),
  };
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch (error) {
    if (isAbort(error)) throw error;
    connection.lost();
    throw new ApiError(0, 'unreachable', 'The daemon does not answer. It may be restarting; try again when it is back.');
  }
  connection.found();
  if (response.ok) return response;
  throw await refusal(response);
}

/** The JSON answer of a request. */
export async function get<T>(path: string, options?: Options): Promise<T> {
  const response = await ask(path, options);
  return (response.status === 204 ? undefined : await response.json()) as T;
}

/** Sends JSON (POST unless a method is given) and gives the JSON answer. */
export const send = <T>(path: string, json: unknown, options: Options = {}): Promise<T> => get<T>(path, { ...options, json });

async function refusal(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  if (response.status === 401) key.refused();
  return refusalOf(response.status, text);
}

/** The `ApiError` of a failure's status and body. */
export function refusalOf(status: number, text: string): ApiError {
  try {
    const {
      detail,
      error,
      errors,
      message: told,
    } = JSON.parse(text) as {
      detail?: unknown;
      error?: unknown;
      errors?: ApiError['problems'];
      message?: string;
    };
    const message =
      typeof detail === 'string'
        ? detail
        : ((error as { message?: string } | undefined)?.message ?? told ?? `The daemon answered ${status}.`);
    return new ApiError(status, typeof error === 'string' ? error : String(status), message, errors ?? []);
  } catch {
    return new ApiError(status, String(status), `The daemon answered ${status}${text ? `: ${text.slice(0, 200)}` : '.'}`);
  }
}

/** Sends a form with files, and gives the JSON answer; otherwise as `uploadForm`. */
export async function upload<T>(path: string, form: FormData, progress: (part: number) => void, signal?: AbortSignal): Promise<T> {
  const answer = await uploadForm(path, form, progress, signal);
  return JSON.parse((await answer.text()) || 'null') as T;
}

/**
 * Sends a form with files, and gives the answer as it comes; `progress` is told what part of the bytes has left, 0 to 1. Browsers tell that of XMLHttpRequest
 * alone. Throws `ApiError` unless the answer is a success, and an `AbortError` where the signal ends it.
 */
export function uploadForm(path: string, form: FormData, progress: (part: number) => void, signal?: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    let answer!: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({
      start(one) {
        answer = one;
      },
      cancel: () => request.abort(),
    });
    const encoder = new TextEncoder();
    let taken = 0;
    const isGood = (): boolean => request.status >= 200 && request.status < 300;
    const take = (): void => {
      const text = isGood() ? request.responseText.slice(taken) : '';
      taken += text.length;
      if (text !== '') answer.enqueue(encoder.encode(text));
    };
    const fail = (error: unknown): void => {
      reject(error);
      answer.error(error);
    };
    request.open('POST', path);
    for (const [name, value] of Object.entries(key.headers())) request.setRequestHeader(name, value);
    request.upload.addEventListener('progress', ({ loaded, total }) => progress(total === 0 ? 0 : loaded / total));
    request.addEventListener('readystatechange', () => {
      if (request.readyState === XMLHttpRequest.HEADERS_RECEIVED && isGood()) resolve(new Response(body, { status: request.status }));
    });
    request.addEventListener('progress', take);
    request.addEventListener('load', () => {
      connection.found();
      if (request.status === 401) key.refused();
      if (!isGood()) return fail(refusalOf(request.status, request.responseText));
      take();
      answer.close();
    });
    request.addEventListener('error', () => {
      connection.lost();
      fail(new ApiError(0, 'unreachable', 'The connection broke during the upload. Nothing of this file was kept; try it again.'));
    });
    request.addEventListener('abort', () => fail(new DOMException('The upload was cancelled.', 'AbortError')));
    signal?.addEventListener('abort', () => request.abort());
    if (signal?.aborted) request.abort();
    else request.send(form);
  });
}

/** One Server-Sent Event; `event` is `message` unless the daemon names it. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
  readonly id: string;
}

/** The events of a streaming answer, as they come. Comments, which most readers pass over, come as events named `comment` to one that wants them. */
export async function* events(response: Response, { comments = false } = {}): AsyncGenerator<ServerEvent> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).replaceAll('\r\n', '\n').split('\n\n');
      rest = blocks.pop()!;
      for (const block of blocks) {
        if (comments && block.startsWith(':')) yield { event: 'comment', id: '', data: block.slice(1).trim() };
        const read = readEvent(block);
        if (read) yield read;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function readEvent(block: string): ServerEvent | undefined {
  let [event, id] = ['message', ''];
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const [, name, value = ''] = /^(\w+):? ?(.*)$/.exec(line) ?? [];
    if (name === 'data') data.push(value);
    else if (name === 'event') event = value;
    else if (name === 'id') id = value;
  }
  return data.length === 0 ? undefined : { event, id, data: data.join('\n') };
}

/** A WebSocket of the daemon; the key goes as a subprotocol, the only header of a handshake that a page can set. */
export function socket(path: string): WebSocket {
  const url = new URL(path, location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  return new WebSocket(url, ['quern', ...key.protocols()]);
}

/** Fetches a file and gives it a `blob:` address, which a page can show though it needs a key. The caller revokes it with `URL.revokeObjectURL`. */
export async function fileAddress(path: string, signal?: AbortSignal): Promise<string> {
  const response = await ask(path, signal ? { signal } : {});
  return URL.createObjectURL(await response.blob());
}

/** Saves a text or blob as a file of the reader's. */
export function save(name: string, content: Blob | string): void {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type: 'text/plain' }));
  const link = Object.assign(document.createElement('a'), { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

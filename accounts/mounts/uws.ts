import type { Accounts } from '../accounts.js';

/** What of uWebSockets.js is used. */
interface UwsResponse {
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): unknown;
  onAborted(handler: () => void): unknown;
  cork(work: () => void): unknown;
  writeStatus(status: string): unknown;
  writeHeader(name: string, value: string): unknown;
  end(body?: Uint8Array): unknown;
  close(): unknown;
  getRemoteAddressAsText(): ArrayBuffer;
}
interface UwsRequest {
  getMethod(): string;
  getUrl(): string;
  getQuery(): string | undefined;
  forEach(handler: (name: string, value: string) => void): void;
}
interface UwsApp {
  any(pattern: string, handler: (response: UwsResponse, request: UwsRequest) => void): unknown;
}

const MOST_BYTES = 1024 * 1024;

/** Adds the library's paths to an app of uWebSockets.js. */
export function mountOnUws(app: UwsApp, accounts: Accounts): void {
  for (const base of accounts.paths)
    for (const pattern of [base, `${base}/*`])
      app.any(pattern, (response, request) => {
        // The request is gone after the first wait, so all of it is read here.
        const asked = webRequest(request);
        if (!asked) return refuse(response, '400 Bad Request', 'bad_request');
        const ip = Buffer.from(response.getRemoteAddressAsText()).toString();
        take(response, (rawBody, ended) => {
          accounts.handle(asked, { ip, rawBody }).then(
            (answer) => send(response, answer, ended),
            () => ended() || response.close(),
          );
        });
      });
}

/** The head of a request as the library takes it; undefined for a method or bytes that HTTP has not, at which an exception would end the process. */
function webRequest(request: UwsRequest): Request | undefined {
  try {
    const headers = new Headers();
    request.forEach((name, value) => {
      headers.append(name, value);
    });
    const query = request.getQuery();
    const url = `http://accounts.invalid${request.getUrl()}${query ? `?${query}` : ''}`;
    return new Request(url, { method: request.getMethod().toUpperCase(), headers });
  } catch {
    return undefined;
  }
}

function refuse(response: UwsResponse, status: string, error: string): void {
  response.cork(() => {
    response.writeStatus(status);
    response.writeHeader('content-type', 'application/json');
    response.end(Buffer.from(JSON.stringify({ error, message: 'the library does not take this request' })));
  });
}

/** Collects a body, and hands it on with a function that tells whether the client has gone. */
function take(response: UwsResponse, done: (body: Uint8Array, ended: () => boolean) => void): void {
  let gone = false;
  let bytes = 0;
  const pieces: Buffer[] = [];
  response.onAborted(() => {
    gone = true;
  });
  response.onData((chunk, isLast) => {
    if (gone || bytes > MOST_BYTES) return;
    bytes += chunk.byteLength;
    if (bytes > MOST_BYTES) {
      refuse(response, '413 Payload Too Large', 'too_large');
      gone = true;
      return;
    }
    // The memory behind a chunk is taken back when this returns.
    pieces.push(Buffer.from(new Uint8Array(chunk)));
    if (isLast) done(Buffer.concat(pieces), () => gone);
  });
}

async function send(response: UwsResponse, answer: Response, ended: () => boolean): Promise<void> {
  const body = new Uint8Array(await answer.arrayBuffer());
  if (ended()) return;
  response.cork(() => {
    response.writeStatus(`${answer.status} ${answer.statusText || 'Answer'}`);
    for (const [name, value] of answer.headers) if (name !== 'set-cookie' && name !== 'content-length') response.writeHeader(name, value);
    for (const cookie of answer.headers.getSetCookie()) response.writeHeader('set-cookie', cookie);
    response.end(body);
  });
}

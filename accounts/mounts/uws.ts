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
        const headers = new Headers();
        request.forEach((name, value) => {
          headers.append(name, value);
        });
        const query = request.getQuery();
        const url = `http://accounts.invalid${request.getUrl()}${query ? `?${query}` : ''}`;
        const method = request.getMethod().toUpperCase();
        const ip = Buffer.from(response.getRemoteAddressAsText()).toString();
        take(response, (rawBody, ended) => {
          accounts.handle(new Request(url, { method, headers }), { ip, rawBody }).then(
            (answer) => send(response, answer, ended),
            () => ended() || response.close(),
          );
        });
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
      response.cork(() => {
        response.writeStatus('413 Payload Too Large');
        response.writeHeader('content-type', 'application/json');
        response.end(Buffer.from('{"error":"too_large","message":"the body is too large"}'));
      });
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

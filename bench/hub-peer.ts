import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { etagOf, HubServer } from '../test/support/hub-server.js';

/** Bytes of one write: large enough that the copy into the socket is all that the server pays for. */
const WRITE_BYTES = 4 * 1024 * 1024;
/** Bytes of one write on a line of limited speed, which all connections share. */
const LINE_WRITE_BYTES = 256 * 1024;
/** Timers are late by so much at most; the line makes up for it, as one that is never idle would. */
const LATE_MS = 20;

/** A line that carries so many bytes a second; one that is not limited carries them at once. */
class Line {
  readonly writeBytes: number;
  readonly #bytesPerS: number;
  #freeMs = 0;

  constructor(bytesPerS: number | undefined) {
    this.#bytesPerS = bytesPerS ?? Number.POSITIVE_INFINITY;
    this.writeBytes = bytesPerS === undefined ? WRITE_BYTES : LINE_WRITE_BYTES;
  }

  /** Calls `send` when the line has room for `bytes`. */
  carry(bytes: number, send: () => void): void {
    if (this.#bytesPerS === Number.POSITIVE_INFINITY) {
      send();
      return;
    }
    const now = performance.now();
    this.#freeMs = Math.max(now - LATE_MS, this.#freeMs) + (bytes / this.#bytesPerS) * 1000;
    setTimeout(send, this.#freeMs - now);
  }
}

/** Sends the asked range in large writes, the next one when the socket has taken the last. */
function serve(bytes: Buffer, line: Line, request: IncomingMessage, response: ServerResponse): void {
  const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
  const from = Number(range?.[1] ?? 0);
  const end = range?.[2] ? Number(range[2]) + 1 : bytes.length;
  const stretch = range ? { 'content-range': `bytes ${from}-${end - 1}/${bytes.length}` } : {};
  response.on('error', () => {});
  response.writeHead(range ? 206 : 200, { 'content-length': String(end - from), 'accept-ranges': 'bytes', ...stretch });
  let at = from;
  const next = (): void => {
    if (response.destroyed) return;
    const piece = bytes.subarray(at, Math.min(end, at + line.writeBytes));
    at += piece.length;
    line.carry(piece.length, () => {
      if (at < end) response.write(piece, next);
      else response.end(piece);
    });
  };
  next();
}

/** What the peer is to serve. */
export interface HubPlan {
  readonly sizeBytes: number;
  readonly repository: string;
  /** Speed of the line that all downloads share; unlimited when missing. */
  readonly bytesPerS?: number;
}

// Lists one model of the asked size as a hub does, and sends its bytes from a fast store; tells where, and ends with its parent.
process.on('message', async ({ sizeBytes, repository, bytesPerS }: HubPlan) => {
  const hub = await HubServer.start();
  const content = Buffer.alloc(sizeBytes);
  for (let at = 0; at < sizeBytes; at += 4096) content.writeUInt32LE(at >>> 12, at);
  const { commit, files } = hub.put(repository, { 'model.gguf': content });
  const file = files.get('model.gguf')!;
  // The digest is computed now, so that the first listing does not wait for it.
  etagOf(file);
  const line = new Line(bytesPerS);
  const store = createServer((request, response) => serve(file.bytes, line, request, response));
  await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve));
  hub.storeUrl = `http://127.0.0.1:${(store.address() as AddressInfo).port}`;
  process.send!({ result: { url: hub.url, commit } });
});
process.on('disconnect', () => process.exit(0));

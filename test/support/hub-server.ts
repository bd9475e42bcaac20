import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How the store behind the hub serves one file, once or for ever; ordinary unless it says otherwise. */
export type Mischief =
  | { kind: 'status'; status: number; headers?: Record<string, string> }
  /** Sends so many bytes, then nothing more. */
  | { kind: 'stall'; after: number }
  /** Sends so many bytes, then closes the connection. */
  | { kind: 'cut'; after: number }
  /** Changes the byte at this place of the file. */
  | { kind: 'flip'; at: number }
  /** Serves whole files only. */
  | { kind: 'no-ranges' }
  /** Says and sends a file of another size. */
  | { kind: 'resize'; bytes: number }
  | { kind: 'etag'; etag: string };

/** A file of the served repository. */
export interface ServedFile {
  readonly bytes: Buffer;
  /** Large files lie behind a redirect and are named by their SHA-256. */
  readonly large: boolean;
}

interface Served {
  commit: string;
  files: Map<string, ServedFile>;
  /** 401 without this token, 403 with another. */
  token?: string;
}

/** A request as it came, for assertions. */
export interface SeenRequest {
  readonly server: 'hub' | 'store';
  readonly method: string;
  readonly path: string;
  readonly range: string | undefined;
  readonly authorization: string | undefined;
}

/** One call of the library takes less than 2 GiB. */
const HASHED_BYTES = 2 ** 30;

function sha256(bytes: Buffer): string {
  const hash = createHash('sha256');
  // Not `length`, which a test may set to what no disk holds.
  for (let at = 0; at < bytes.byteLength; at += HASHED_BYTES)
    hash.update(new Uint8Array(bytes.buffer, bytes.byteOffset + at, Math.min(HASHED_BYTES, bytes.byteLength - at)));
  return hash.digest('hex');
}

const gitHash = (bytes: Buffer): string => createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');

const etags = new WeakMap<ServedFile, string>();

/** The name of a file's blob, as the hub gives it. */
export function etagOf(file: ServedFile): string {
  const etag = etags.get(file) ?? (file.large ? sha256(file.bytes) : gitHash(file.bytes));
  etags.set(file, etag);
  return etag;
}

function listen(server: Server): Promise<string> {
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)),
  );
}

/**
 * A model hub on this machine: revision and tree listings with pages, `resolve` with the hub's headers, large files behind redirects to a
 * second server on another port, ranges and entity tags; with mischief where a test asks for it.
 */
export class HubServer {
  readonly seen: SeenRequest[] = [];
  /** Entries of one page of a listing. */
  pageSize = 1000;
  /** Where the next page of a listing is said to be, instead of our own hub. */
  pagesUrl = '';
  /** Where large files are said to be, instead of our own store. */
  storeUrl = '';
  /** Milliseconds that the store waits before each 64 KiB. */
  delayMs = 0;
  url = '';
  readonly #repositories = new Map<string, Served>();
  readonly #mischief = new Map<string, { what: Mischief; times: number }[]>();
  readonly #hub = createServer((request, response) => this.#answer('hub', request, response));
  readonly #store = createServer((request, response) => this.#answer('store', request, response));

  static async start(): Promise<HubServer> {
    const hub = new HubServer();
    hub.url = await listen(hub.#hub);
    hub.storeUrl = await listen(hub.#store);
    return hub;
  }

  /** Serves a repository; files of 1 KiB and more are large ones. */
  put(repository: string, files: Record<string, Buffer | string>, more: { token?: string } = {}): Served {
    const served: Served = {
      commit: createHash('sha1')
        .update(JSON.stringify([repository, Object.keys(files), Date.now()]))
        .digest('hex'),
      files: new Map(
        Object.entries(files).map(([path, content]) => {
          const bytes = Buffer.from(content);
          return [path, { bytes, large: bytes.length >= 1024 }];
        }),
      ),
      ...more,
    };
    this.#repositories.set(repository, served);
    return served;
  }

  /** Does something to the next `times` requests for the bytes of a file, or to listings where the file is `listing`. */
  mischief(file: string, what: Mischief, times = 1): void {
    this.#mischief.set(file, [...(this.#mischief.get(file) ?? []), { what, times }]);
  }

  calm(): void {
    this.#mischief.clear();
  }

  async close(): Promise<void> {
    for (const server of [this.#hub, this.#store]) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  #next(file: string): Mischief | undefined {
    const first = this.#mischief.get(file)?.find(({ times }) => times > 0);
    if (first) first.times -= 1;
    return first?.what;
  }

  #answer(server: SeenRequest['server'], request: IncomingMessage, response: ServerResponse): unknown {
    const url = new URL(request.url!, 'http://hub');
    const { range, authorization } = request.headers;
    this.seen.push({ server, method: request.method!, path: url.pathname + url.search, range, authorization });
    response.on('error', () => {});
    if (server === 'store') return this.#bytes(request, response, url);
    const [, repository, rest] =
      /^\/(?:api\/models\/)?([^/]+\/[^/]+)\/((?:revision|tree|resolve)\/.*)$/.exec(decodeURIComponent(url.pathname)) ?? [];
    const served = this.#repositories.get(repository ?? '');
    if (!served || rest === undefined) return fail(response, 401, 'RepoNotFound');
    if (served.token !== undefined && authorization !== `Bearer ${served.token}`)
      return fail(response, authorization === undefined ? 401 : 403, 'GatedRepo');
    const [verb, revision, ...path] = rest.split('/');
    const odd = verb === 'resolve' ? undefined : this.#next('listing');
    if (odd?.kind === 'status') return fail(response, odd.status, '', odd.headers);
    if (revision !== 'main' && revision !== served.commit) return fail(response, 404, 'RevisionNotFound');
    if (verb === 'revision') return json(response, { id: repository, sha: served.commit, gated: false });
    if (verb === 'tree') return this.#tree(response, served, url);
    return this.#resolve(request, response, { repository: repository!, served, path: path.join('/') });
  }

  #tree(response: ServerResponse, served: Served, url: URL): void {
    const cursor = Number(url.searchParams.get('cursor') ?? 0);
    const all = [...served.files].map(([path, file]) => {
      const size = file.bytes.length;
      const lfs = { oid: etagOf(file), size, pointerSize: 134 };
      return { type: 'file', oid: file.large ? gitHash(Buffer.from(path)) : etagOf(file), size, path, ...(file.large ? { lfs } : {}) };
    });
    const folders = [...new Set(all.flatMap(({ path }) => (path.includes('/') ? [path.slice(0, path.lastIndexOf('/'))] : [])))];
    const entries = [...folders.map((path) => ({ type: 'directory', oid: '0'.repeat(40), size: 0, path })), ...all];
    const next = new URL(url.pathname + url.search, this.pagesUrl || this.url);
    next.searchParams.set('cursor', String(cursor + this.pageSize));
    const headers: Record<string, string> = cursor + this.pageSize < entries.length ? { link: `<${next.href}>; rel="next"` } : {};
    json(response, entries.slice(cursor, cursor + this.pageSize), headers);
  }

  #resolve(
    request: IncomingMessage,
    response: ServerResponse,
    { repository, served, path }: { repository: string; served: Served; path: string },
  ): unknown {
    const file = served.files.get(path);
    if (!file) return fail(response, 404, 'EntryNotFound');
    const odd = this.#mischief.get(path)?.find(({ times, what }) => times > 0 && what.kind === 'etag');
    if (odd) odd.times -= 1;
    const etag = odd?.what.kind === 'etag' ? odd.what.etag : etagOf(file);
    const headers: Record<string, string> = { 'x-repo-commit': served.commit };
    if (!file.large) return this.#send(request, response, path, file, { ...headers, etag: `"${etag}"` });
    const location = `${this.storeUrl}/${encodeURIComponent(repository)}/${encodeURIComponent(path)}?signature=abc`;
    response.writeHead(302, { ...headers, 'x-linked-etag': `"${etag}"`, 'x-linked-size': String(file.bytes.length), location });
    return response.end('Found');
  }

  async #bytes(request: IncomingMessage, response: ServerResponse, url: URL): Promise<unknown> {
    const [repository, path] = url.pathname.slice(1).split('/').map(decodeURIComponent) as [string, string];
    const file = this.#repositories.get(repository)?.files.get(path);
    if (!file) return fail(response, 404, '');
    return this.#send(request, response, path, file, { etag: '"the-store-has-its-own"' });
  }

  async #send(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    file: ServedFile,
    headers: Record<string, string>,
  ): Promise<unknown> {
    const odd = this.#next(path);
    if (odd?.kind === 'status') return fail(response, odd.status, '', odd.headers);
    const bytes = odd?.kind === 'resize' ? Buffer.alloc(odd.bytes, 7) : odd?.kind === 'flip' ? Buffer.from(file.bytes) : file.bytes;
    if (odd?.kind === 'flip') bytes[odd.at]! ^= 1;
    const range = odd?.kind === 'no-ranges' ? null : /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
    const from = range ? Number(range[1]) : 0;
    const to = range?.[2] ? Math.min(Number(range[2]), bytes.length - 1) : bytes.length - 1;
    const part = bytes.subarray(from, to + 1);
    const stretch = range ? { 'content-range': `bytes ${from}-${to}/${bytes.length}` } : {};
    response.writeHead(range ? 206 : 200, { ...headers, ...stretch, 'content-length': String(part.length), 'accept-ranges': 'bytes' });
    const end = odd?.kind === 'stall' || odd?.kind === 'cut' ? Math.min(odd.after, part.length) : part.length;
    for (let at = 0; at < end; at += 65_536) {
      if (this.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.delayMs));
      if (response.destroyed) return undefined;
      response.write(part.subarray(at, Math.min(end, at + 65_536)));
    }
    if (odd?.kind === 'stall') return undefined;
    if (odd?.kind === 'cut') {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return response.destroy();
    }
    return response.end();
  }
}

function json(response: ServerResponse, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

function fail(response: ServerResponse, status: number, code: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { ...(code === '' ? {} : { 'x-error-code': code }), ...headers });
  response.end(JSON.stringify({ error: code }));
}

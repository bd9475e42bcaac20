import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { once } from '../runtime/base/once.js';
import { type Endpoint, endpoint, type WholeReply } from '../schemas/endpoint.js';
import { Failure } from '../schemas/errors.js';
import { type ApiTitle, openApiDocument } from '../schemas/openapi.js';

/** Where the build puts the interface: one page, and in `assets/` its scripts, styles and pictures, each also compressed. */
const FOLDER = new URL('../web/', import.meta.url);
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.wasm': 'application/wasm',
};
/** The best first. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;
/** Names of files with a hash of their content never mean something else. */
const HASHED = /-[\w-]{8}\.\w+$/;
/**
 * The page's own files and requests to this listener. Its libraries set styles of single elements as attributes (mathematics, editors); what the page
 * shows of a user's files, it shows from `blob:` addresses, which hold what was fetched with the key.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "style-src-attr 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "media-src 'self' data: blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "frame-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');
const SAFE = { 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' };

interface StaticFile {
  readonly contentType: string;
  readonly bytes: Uint8Array;
  /** Content codings and their bytes, the best first. */
  readonly encoded: readonly { readonly coding: string; readonly bytes: Uint8Array }[];
}

const files = new Map<string, Promise<StaticFile | undefined>>();
const fileNames = once(
  (): Promise<ReadonlySet<string>> =>
    readdir(FOLDER, { recursive: true }).then(
      (all) => new Set(all.map((one) => one.replaceAll('\\', '/'))),
      () => new Set<string>(),
    ),
);

/** One file of the interface, read once; `undefined` where the build has none of that name. */
function staticFile(name: string): Promise<StaticFile | undefined> {
  let file = files.get(name);
  if (file === undefined) {
    file = fileNames().then((known) => (known.has(name) && TYPES[extname(name)] ? read(name, known) : undefined));
    // Only what was read is kept: a client that asks for other names costs no memory, and a failed read is tried again.
    const forget = (): boolean => files.delete(name);
    file.then((found) => found ?? forget(), forget);
    files.set(name, file);
  }
  return file;
}

async function read(name: string, known: ReadonlySet<string>): Promise<StaticFile> {
  const bytesOf = (one: string): Promise<Uint8Array> => readFile(new URL(one, FOLDER));
  const there = ENCODINGS.filter(([, ending]) => known.has(name + ending));
  const encoded = await Promise.all(there.map(async ([coding, ending]) => ({ coding, bytes: await bytesOf(name + ending) })));
  return { contentType: TYPES[extname(name)]!, bytes: await bytesOf(name), encoded };
}

function reply(file: StaticFile, acceptEncoding: string | undefined, headers: Readonly<Record<string, string>>): WholeReply {
  const accepted = new Set((acceptEncoding ?? '').split(',').map((one) => one.trim()));
  const best = file.encoded.find(({ coding }) => accepted.has(coding));
  return {
    bytes: best?.bytes ?? file.bytes,
    contentType: file.contentType,
    headers: { ...SAFE, Vary: 'Accept-Encoding', ...(best ? { 'Content-Encoding': best.coding } : {}), ...headers },
  };
}

/** The page of the interface; `undefined` where it was not built. */
export async function webPage(acceptEncoding: string | undefined): Promise<WholeReply | undefined> {
  const page = await staticFile('index.html');
  return page && reply(page, acceptEncoding, { 'Content-Security-Policy': POLICY, 'Cache-Control': 'no-cache' });
}

/** Serves the files that the page loads. They hold nothing of a user's, so they need no key: the page asks for it. */
export function webAssets<Context>(): Endpoint<Context> {
  return endpoint<Context>({
    method: 'GET',
    path: '/assets/{file+}',
    id: 'web_asset',
    access: 'anyone',
    summary: 'A file of the web interface',
    tag: 'documentation',
    hidden: true,
    handler: async (_context, request) => {
      const name = request.params.file!;
      const file = await staticFile(`assets/${name}`);
      if (file === undefined)
        throw new Failure('not_found', `The web interface has no file "${name}". Load the page again: a newer one may be here.`);
      const keep = HASHED.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache';
      return reply(file, request.header('accept-encoding'), { 'Cache-Control': keep });
    },
  });
}

/** `GET /openapi.json`, for a list of endpoints, and the web interface, which begins with it at `/docs`. The document is made on first request. */
export function documentationEndpoints<Context>(about: ApiTitle, list: readonly Endpoint<Context>[]): Endpoint<Context>[] {
  let text: string | undefined;
  return [
    endpoint<Context>({
      method: 'GET',
      path: '/openapi.json',
      id: 'openapi',
      access: 'users',
      summary: 'This API as an OpenAPI 3.1 document',
      tag: 'documentation',
      hidden: true,
      handler: () => {
        text ??= JSON.stringify(openApiDocument(about, list as readonly Endpoint<never>[]));
        return { bytes: text, contentType: 'application/json' };
      },
    }),
    endpoint<Context>({
      method: 'GET',
      path: '/docs',
      id: 'docs',
      access: 'anyone',
      summary: 'This API as a page',
      tag: 'documentation',
      hidden: true,
      handler: async (_context, request) => {
        const page = await webPage(request.header('accept-encoding'));
        if (page) return page;
        throw new Failure('not_found', 'The web interface was not built: run "npm start". The same is at /openapi.json.');
      },
    }),
  ];
}

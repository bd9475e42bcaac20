import { Failure } from '../../../schemas/errors.js';
import type { Outbound } from '../../net/outbound.js';
import type { RemoteFile } from '../cache/layout.js';
import { type HubReply, HubRequests, refusalOf, withRetries } from './hub-requests.js';
import type { HubSettings } from './settings.js';

/** Listings beyond this are no model's. */
const PAGES = 50;
const FILES = 20_000;
const LISTING_BYTES = 32 * 1024 * 1024;
const LISTING_MS = 60_000;
/** Longest exchange for one part of a file; a stall ends it far earlier. */
const PART_MS = 24 * 3600 * 1000;
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const PATH_CHARS = 1024;
const API = '/api/models/';
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const UNSAFE = /[\u0000-\u001f\u007f\\]/;

/** Bytes of a file, both ends included. */
interface ByteRange {
  readonly from: number;
  readonly to: number;
}

const escapedPath = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

function checkedPath(path: unknown, repository: string): string {
  const isSafe =
    typeof path === 'string' &&
    path.length <= PATH_CHARS &&
    !UNSAFE.test(path) &&
    !/^[A-Za-z]:/.test(path) &&
    path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
  if (isSafe) return path;
  throw new Failure('invalid', `${repository} lists a file whose name leads out of it: ${JSON.stringify(path).slice(0, 200)}.`, {
    code: 'UnsafeListing',
  });
}

function remoteFile(entry: Record<string, unknown>, repository: string): RemoteFile {
  const large = entry.lfs as { oid?: unknown; size?: unknown } | undefined;
  const etag = String(large?.oid ?? entry.oid).replace(/^sha256:/, '');
  const sizeBytes = Number(large?.size ?? entry.size);
  if (!COMMIT.test(etag) || !Number.isSafeInteger(sizeBytes) || sizeBytes < 0) {
    throw new Failure('unavailable', `The hub lists ${String(entry.path).slice(0, 200)} of ${repository} without a size or hash.`, {
      code: 'HubRefused',
    });
  }
  return { path: checkedPath(entry.path, repository), sizeBytes, etag };
}

/** The address of the next page by a `Link` header; of a mirror that hands on the hub's own address, the same page is asked of the mirror. */
function nextPage(link: string | undefined, from: string): string | null {
  const target = /<([^>]+)>\s*;[^,]*rel="?next"?/.exec(link ?? '')?.[1];
  if (target === undefined || !URL.canParse(target, from)) return null;
  const [url, here] = [new URL(target, from), new URL(from)];
  if (url.origin === here.origin) return url.href;
  const [at, place] = [url, here].map(({ pathname }) => pathname.indexOf(API)) as [number, number];
  return at < 0 || place < 0 ? null : new URL(here.pathname.slice(0, place) + url.pathname.slice(at) + url.search, here).href;
}

/** Speaks to the model hub: what a repository holds, and the bytes of its files. Failures name the repository and the remedy. */
export class HubClient {
  readonly settings: HubSettings;
  readonly #requests: HubRequests;

  constructor(outbound: Outbound, settings: HubSettings) {
    this.settings = settings;
    this.#requests = new HubRequests(outbound, settings);
  }

  /** The commit that a branch, tag or commit of a repository stands for now. */
  async commit(repository: string, revision: string, signal: AbortSignal): Promise<string> {
    const url = `${this.settings.endpoint}${API}${escapedPath(repository)}/revision/${encodeURIComponent(revision)}`;
    const { body } = await this.#listing(url, repository, signal);
    const { sha } = body as { sha?: unknown };
    if (typeof sha === 'string' && COMMIT.test(sha)) return sha;
    throw new Failure('unavailable', `The hub names no commit for ${repository}.`, { code: 'HubRefused' });
  }

  /** Every file of a commit, in the order of the listing. */
  async files(repository: string, commit: string, signal: AbortSignal): Promise<RemoteFile[]> {
    let url: string | null = `${this.settings.endpoint}${API}${escapedPath(repository)}/tree/${commit}?recursive=true`;
    const found: RemoteFile[] = [];
    for (let page = 0; url !== null; page++) {
      const { body, link }: { body: unknown; link: string | undefined } = await this.#listing(url, repository, signal);
      if (!Array.isArray(body)) throw new Failure('unavailable', `The hub's listing of ${repository} is no list.`, { code: 'HubRefused' });
      const entries = body as Record<string, unknown>[];
      found.push(...entries.filter(({ type }) => type === 'file').map((entry) => remoteFile(entry, repository)));
      url = nextPage(link, url);
      if (page >= PAGES || found.length > FILES)
        throw new Failure('too_large', `${repository} has more than ${FILES} files, the most that are listed.`);
    }
    return found;
  }

  /** Asks for a file, or a range of it; the caller reads or discards the answer. Throws for any status but 200 and 206. */
  async open(repository: string, commit: string, file: RemoteFile, range: ByteRange | null, signal: AbortSignal): Promise<HubReply> {
    this.#checkOnline(repository);
    const landed = await this.#requests.send({
      url: `${this.settings.endpoint}/${escapedPath(repository)}/resolve/${commit}/${escapedPath(file.path)}`,
      headers: range === null ? {} : { range: `bytes=${range.from}-${range.to}` },
      limits: { headersMs: this.settings.stallMs, idleMs: this.settings.stallMs, totalMs: PART_MS, responseBytes: file.sizeBytes + 1 },
      signal,
    });
    if (landed.reply.status === 200 || landed.reply.status === 206) return landed;
    landed.reply.discard();
    throw refusalOf(landed.reply, { repository, path: file.path }, this.settings);
  }

  #listing(url: string, repository: string, signal: AbortSignal): Promise<{ body: unknown; link: string | undefined }> {
    this.#checkOnline(repository);
    const { stallMs, pauseMs } = this.settings;
    const limits = { headersMs: stallMs, idleMs: stallMs, totalMs: LISTING_MS, responseBytes: LISTING_BYTES };
    const act = async (): Promise<{ body: unknown; link: string | undefined }> => {
      const { reply } = await this.#requests.send({ url, limits, signal });
      if (reply.status !== 200) {
        reply.discard();
        throw refusalOf(reply, { repository, path: '' }, this.settings);
      }
      const text = await reply.text();
      try {
        return { body: JSON.parse(text), link: reply.header('link') };
      } catch (cause) {
        throw new Failure('unavailable', `The hub's answer about ${repository} is no JSON.`, { code: 'BadResponse', cause });
      }
    };
    return withRetries(act, pauseMs, signal);
  }

  #checkOnline(repository: string): void {
    if (!this.settings.offline) return;
    const what = `${repository} cannot be fetched: HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE is set.`;
    throw new Failure('unavailable', `${what} Unset it, or put the files into ${this.settings.cache} or the models folder.`, {
      code: 'HubOffline',
    });
  }
}

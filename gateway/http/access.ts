import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { log } from '../../runtime/base/log.js';
import { networkOf } from '../../runtime/net/ip.js';
import { Failure } from '../../schemas/errors.js';

/** Wrong keys that one address may send within `WINDOW_MS`. */
export const MAX_WRONG_KEYS = 10;
/** The window slides: each wrong key counts for so long, in milliseconds. */
export const WINDOW_MS = 60_000;
/** Addresses that are remembered; the one that was wrong longest ago is forgotten first. */
export const MAX_ADDRESSES = 4096;

/**
 * Counts wrong keys by address, in memory that is bounded. Only wrong keys are answered differently for it: the right key is taken from any
 * address at any time, because many clients may share one address and one of them must not lock the others out.
 */
export class WrongKeys {
  /** Times of the wrong keys of an address, oldest first, at most `MAX_WRONG_KEYS`. */
  readonly #times = new Map<string, readonly number[]>();

  /** How many addresses are remembered. */
  get size(): number {
    return this.#times.size;
  }

  /** Notes a wrong key at `nowMs`. Returns the seconds after which the address may try again, 0 while it has tries left. */
  note(address: string, nowMs: number = performance.now()): number {
    const place = networkOf(address);
    const recent = (this.#times.get(place) ?? []).filter((time) => time > nowMs - WINDOW_MS);
    const isOver = recent.length >= MAX_WRONG_KEYS;
    this.#times.delete(place);
    this.#times.set(place, isOver ? recent : [...recent, nowMs]);
    if (this.#times.size > MAX_ADDRESSES) this.#times.delete(this.#times.keys().next().value!);
    if (recent.length === MAX_WRONG_KEYS - 1)
      log('warn', `${address} sent ${MAX_WRONG_KEYS} wrong API keys within ${WINDOW_MS / 1000} s; further ones are answered with 429`);
    return isOver ? Math.max(1, Math.ceil((recent[0]! + WINDOW_MS - nowMs) / 1000)) : 0;
  }
}

/** Who may call a listener (threats T9 to T11). */
export interface AccessRules {
  /** The address that the listener binds: one of the names it may be called by. */
  readonly bindHost: string;
  /** Further host names (without port) under which clients may call it. */
  readonly hosts?: readonly string[];
  /** Origins of web pages, besides loopback ones, that may read answers and change state; `*` means any. */
  readonly origins?: readonly string[];
  /** When set, every path but those of `OPEN_PATHS` wants it. */
  readonly apiKey?: string;
  /** The certificate in use, by whose names the listener may be called too; they change with it. */
  readonly certificate?: { readonly names: readonly string[] };
}

/** Paths that need no key: a supervisor must see that the process lives, and the pages and their files, which hold nothing of the user's, ask for the key. */
const OPEN_PATHS: ReadonlySet<string> = new Set(['/health/liveness', '/health/liveness/', '/docs', '/docs/']);
const OPEN_FOLDER = '/assets/';
/** What a browser accepts that opens `/`, where others want the API's greeting and need the key. */
const PAGE = /\btext\/html\b/;
/** How a page sends the key in a WebSocket's handshake, whose headers it cannot set: as a subprotocol, in hexadecimal. */
const KEY_PROTOCOL = /(?:^|,)\s*quern-key\.((?:[0-9a-f]{2})+)\s*(?:,|$)/;

/** Remembered verdicts on Host and Origin texts; the memory is dropped when full. */
const MAX_REMEMBERED = 256;
const ANY_ADDRESS = new Set(['0.0.0.0', '::', '']);

/** Decides by `AccessRules`; verdicts on recurring texts are remembered. */
export class Access {
  readonly #hosts: ReadonlySet<string>;
  readonly #anyAddress: boolean;
  readonly #origins: ReadonlySet<string>;
  readonly #key: Buffer | undefined;
  readonly #wrongKeys = new WrongKeys();
  readonly #hostVerdicts = new Map<string, boolean>();
  readonly #certificate: AccessRules['certificate'];
  /** Those of the certificate that the verdicts come from. */
  #names: readonly string[] | undefined;

  constructor(rules: AccessRules) {
    const bind = bareHost(rules.bindHost);
    this.#hosts = new Set([bind, ...(rules.hosts ?? []).map(bareHost)]);
    this.#anyAddress = ANY_ADDRESS.has(bind);
    this.#origins = new Set((rules.origins ?? []).map((origin) => origin.toLowerCase().replace(/\/$/, '')));
    this.#certificate = rules.certificate;
    this.#key = rules.apiKey === undefined ? undefined : digest(rules.apiKey);
  }

  /** Throws unless the Host header names this listener: a page that rebinds its DNS name to our address comes with its own name. */
  checkHost(header: string): void {
    if (this.#certificate?.names !== this.#names) {
      this.#names = this.#certificate?.names;
      this.#hostVerdicts.clear();
    }
    let verdict = this.#hostVerdicts.get(header);
    if (verdict === undefined) {
      verdict = this.#allowsHost(header);
      if (this.#hostVerdicts.size >= MAX_REMEMBERED) this.#hostVerdicts.clear();
      this.#hostVerdicts.set(header, verdict);
    }
    if (verdict) return;
    if (header === '') throw new Failure('bad_request', 'The Host header is missing.', { code: 'HostMissing' });
    const shown = JSON.stringify(header.slice(0, 100));
    throw new Failure(
      'forbidden',
      `Host ${shown} is not served here: call localhost, or start the daemon with this name among its allowed hosts.`,
      {
        code: 'HostNotAllowed',
      },
    );
  }

  /** Whether pages of `origin` may read answers and change state. `host` is the checked Host header: a page of ours may call us. */
  allowsOrigin(origin: string, host: string): boolean {
    if (this.#origins.has('*') || this.#origins.has(origin.toLowerCase())) return true;
    const url = parseOrigin(origin);
    if (url === undefined || url.origin !== origin.toLowerCase()) return false;
    return isLoopback(bareHost(url.hostname)) || url.host === host.toLowerCase();
  }

  /**
   * Throws unless `Authorization: Bearer`, `X-API-Key` or a WebSocket's subprotocol carries the key, where one is wanted: `unauthorized`, and `too_many` for an address that
   * has sent several wrong ones. Takes the same time for every wrong key, and takes the right one always.
   */
  checkKey(request: { readonly path: string; readonly remoteAddress: string; header(name: string): string }): void {
    if (this.#key === undefined || isOpen(request.path, request.header('accept'))) return;
    const given = sentKey((name) => request.header(name));
    if (timingSafeEqual(digest(given), this.#key)) return;
    // Who sends no key does not guess.
    const retryAfterS = given === '' ? 0 : this.#wrongKeys.note(request.remoteAddress);
    if (retryAfterS > 0) {
      throw new Failure(
        'too_many',
        `Too many wrong API keys came from your address. Try again in ${retryAfterS} s; the right key is taken at once.`,
        {
          code: 'TooManyWrongKeys',
          retryAfterS,
        },
      );
    }
    throw new Failure('unauthorized', 'This daemon wants its API key: send "Authorization: Bearer <key>" or "X-API-Key: <key>".');
  }

  #allowsHost(header: string): boolean {
    const match = /^(\[[0-9a-f:.]+\]|[^:[\]/@\s]+)(?::\d{1,5})?$/i.exec(header);
    if (!match) return false;
    const name = bareHost(match[1]!);
    // A literal address cannot be rebound, so a listener on all addresses may be called by any of them.
    return isLoopback(name) || this.#hosts.has(name) || this.#isCertified(name) || (this.#anyAddress && isIP(name) !== 0);
  }

  #isCertified(name: string): boolean {
    return this.#names?.some((one) => bareHost(one) === name) ?? false;
  }
}

function isOpen(path: string, accept: string): boolean {
  return OPEN_PATHS.has(path) || path.startsWith(OPEN_FOLDER) || (path === '/' && PAGE.test(accept));
}

/** The key that a request carries; empty where there is none. */
function sentKey(header: (name: string) => string): string {
  const bearer = /^bearer\s+(.+)$/i.exec(header('authorization'))?.[1];
  const protocol = KEY_PROTOCOL.exec(header('sec-websocket-protocol'))?.[1];
  return bearer ?? (protocol === undefined ? header('x-api-key') : Buffer.from(protocol, 'hex').toString());
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function bareHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '');
}

/** Whether a host name or address means this machine. */
export function isLoopback(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
}

function parseOrigin(origin: string): URL | undefined {
  try {
    const url = new URL(origin);
    return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined;
  } catch {
    return undefined;
  }
}

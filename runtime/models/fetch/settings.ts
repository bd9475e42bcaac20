import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { type ProxyChoice, proxiesOf } from '../../net/proxies.js';
import { hubCacheFolder, hubHome, wholePath } from '../find/hub-cache.js';

const PUBLIC_ENDPOINT = 'https://huggingface.co';
const STALL_S = 30;
const CONNECTIONS = 4;
const SURE = /^(1|true|yes|on)$/i;

/** How the model hub is reached and where its files go; the variables are those of the hub's other clients. */
export interface HubSettings {
  /** Without a slash at the end. */
  readonly endpoint: string;
  /** Sent to the endpoint's own origin and nowhere else. */
  readonly token: string | null;
  /** Nothing is asked of the hub. */
  readonly offline: boolean;
  /** The cache folder, which other programs share. */
  readonly cache: string;
  /** A connection that brings nothing for this long is given up and opened again. */
  readonly stallMs: number;
  /** Parts of one large file that are fetched at a time. */
  readonly connections: number;
  /** The first pause before another try; each further one is twice as long. */
  readonly pauseMs: number;
  /** The way to the hub and to where it keeps its files. */
  readonly proxies: ProxyChoice;
}

function tokenOf(env: NodeJS.ProcessEnv): string | null {
  const given = env.HF_TOKEN?.trim() || env.HUGGING_FACE_HUB_TOKEN?.trim();
  if (given) return given;
  if (SURE.test(env.HF_HUB_DISABLE_IMPLICIT_TOKEN ?? '')) return null;
  try {
    return readFileSync(env.HF_TOKEN_PATH ? wholePath(env.HF_TOKEN_PATH, env) : join(hubHome(env), 'token'), 'utf8').trim() || null;
  } catch {
    return null;
  }
}

function endpointOf(env: NodeJS.ProcessEnv): string {
  const text = env.HF_ENDPOINT?.trim() || PUBLIC_ENDPOINT;
  let url: URL;
  try {
    url = new URL(text);
  } catch (cause) {
    throw new Failure('invalid', 'HF_ENDPOINT is no URL; write it as https://host or http://host:port.', { cause });
  }
  if (!/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw new Failure('invalid', 'HF_ENDPOINT must be an http or https address without query and fragment.');
  return url.href.replace(/\/+$/, '');
}

function positive(text: string | undefined, otherwise: number): number {
  const value = Number(text);
  return text !== undefined && Number.isFinite(value) && value > 0 ? value : otherwise;
}

/**
 * Settings by `HF_ENDPOINT`, `HF_TOKEN` (else the token file of the hub's own login), `HF_HUB_OFFLINE` or `TRANSFORMERS_OFFLINE`,
 * `HF_HUB_CACHE` or `HF_HOME`, `HF_HUB_DOWNLOAD_TIMEOUT` (seconds, 30), `QUERN_DOWNLOAD_CONNECTIONS` (4) and the variables of proxies. Throws `invalid`.
 */
export function hubSettings(env: NodeJS.ProcessEnv = process.env): HubSettings {
  return {
    endpoint: endpointOf(env),
    token: tokenOf(env),
    offline: SURE.test(env.HF_HUB_OFFLINE ?? '') || SURE.test(env.TRANSFORMERS_OFFLINE ?? ''),
    cache: hubCacheFolder(env),
    stallMs: positive(env.HF_HUB_DOWNLOAD_TIMEOUT, STALL_S) * 1000,
    connections: Math.min(16, Math.ceil(positive(env.QUERN_DOWNLOAD_CONNECTIONS, CONNECTIONS))),
    pauseMs: 500,
    proxies: proxiesOf(env),
  };
}

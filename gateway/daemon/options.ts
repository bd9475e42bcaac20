import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type OtlpSettings, otlpSettings } from '../../runtime/events/otlp/settings.js';
import { DATASET_BYTES } from '../../runtime/library/datasets/contract.js';
import { Failure } from '../../schemas/errors.js';
import type { TlsFiles } from './tls.js';

/** The version in package.json: the one place where it is kept. The compiled file lies in `build/gateway/daemon`, three folders below it. */
export const VERSION: string = (JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as { version: string })
  .version;

/** How the daemon is started: flags first, then environment variables, then defaults. */
export interface DaemonOptions {
  host: string;
  port: number;
  runtimeHost: string;
  runtimePort: number;
  dataDir: string;
  /** Remote universal runtimes that the core calls instead of the one in this process. */
  runtimeUrls: string[];
  apiKey: string | null;
  /** Files of the certificate and the key that https is served with; null = http. */
  tls: TlsFiles | null;
  /** What a command trusts of a daemon that speaks https: a PEM file, or `system` for what Node trusts. */
  ca: string | null;
  /** The module file of the accounts in front of the daemon; null = everybody may use it. */
  accounts: string | null;
  /** Accepts a non-loopback bind without a key. */
  openToNetwork: boolean;
  allowNetworkFs: boolean;
  /** Further names that requests may use in `Host`, and origins that may change state. */
  allowedHosts: string[];
  allowedOrigins: string[];
  /** Environment variables, besides the usual ones, that project files may refer to as `${env:NAME}`. */
  allowedEnv: string[];
  /** What the files of one dataset may hold together, in bytes. */
  datasetQuotaBytes: number;
  /** DELETE of a project removes it, not only where `purge=true` asks for it. */
  deleteProjects: boolean;
  /** Language models must keep the chat template that they had first (threat T5). */
  pinTemplates: boolean;
  /** Every configured tool server may run, also one that came over HTTP (threat T32). */
  allowMcp: boolean;
  /** Models that project files and fits name are fetched on their first use. */
  pullsOnUse: boolean;
  /** Where events go as traces; null = nowhere. */
  otlp: OtlpSettings | null;
}

/** What `--help` lists: flag, environment variable, meaning. One row per option, in the order shown. */
export const OPTIONS = {
  host: ['HOST', 'address of the core API (127.0.0.1)'],
  port: ['PORT', 'port of the core API (14345)'],
  'runtime-host': ['RUNTIME_HOST', 'address of the universal runtime (127.0.0.1)'],
  'runtime-port': ['RUNTIME_PORT', 'port of the universal runtime (11540)'],
  'data-dir': ['DATA_DIR', 'where projects, sessions and models live; LF_DATA_DIR counts too (~/.quern)'],
  'runtime-url': ['RUNTIME_URL', 'use these remote universal runtimes, comma-separated'],
  'api-key': ['QUERN_API_KEY', 'require this key in Authorization or X-API-Key'],
  'tls-cert': ['QUERN_TLS_CERT', 'serve https and wss on both ports with this certificate and its chain (PEM); read again at SIGHUP'],
  'tls-key': ['QUERN_TLS_KEY', 'the key of that certificate (PEM)'],
  ca: ['QUERN_CA', 'commands speak https and trust this certificate (PEM file; "system" for what Node trusts)'],
  accounts: ['QUERN_ACCOUNTS', 'want users to sign in, by this module file (quern accounts init writes one)'],
  'allowed-hosts': ['ALLOWED_HOSTS', 'further Host names to answer to, comma-separated'],
  'allowed-origins': ['CORS_ALLOWED_ORIGINS', 'web origins that may call the API, comma-separated'],
  'allow-env': ['QUERN_ALLOW_ENV', 'further variables that project files may use as ${env:NAME}, comma-separated'],
  'dataset-quota-gb': ['DATASET_QUOTA_GB', 'gigabytes that the files of one dataset may hold (100)'],
  'delete-projects': ['QUERN_DELETE_PROJECTS', 'DELETE of a project removes it, as purge=true does (yes/no)'],
  'pin-templates': ['QUERN_PIN_TEMPLATES', 'refuse a model whose chat template has changed (yes/no)'],
  'allow-mcp': ['QUERN_ALLOW_MCP', 'run tool servers that came over HTTP without an approval (yes/no)'],
  pull: ['QUERN_PULL', 'fetch models that project files name on their first use: on-use or never (on-use)'],
  'otlp-endpoint': ['OTEL_EXPORTER_OTLP_ENDPOINT', 'send event logs as traces to this OTLP/HTTP receiver'],
  'open-to-network': ['QUERN_OPEN_TO_NETWORK', 'allow a non-loopback address without a key (yes/no)'],
  'allow-network-fs': ['QUERN_ALLOW_NETWORK_FS', 'allow a data directory on a network file system (yes/no)'],
} as const;

/** A petabyte: beyond it a typing error is likelier than a disk. */
const MOST_GIGABYTES = 1_000_000;
/** The options that take no value. */
export const SWITCHES = new Set<string>(['delete-projects', 'pin-templates', 'allow-mcp', 'open-to-network', 'allow-network-fs']);

function port(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > 65535)
    throw new Failure('bad_request', `--${name} must be a port from 0 to 65535 (0 picks a free one), not "${text}".`);
  return value;
}

function gigabytes(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= MOST_GIGABYTES))
    throw new Failure('bad_request', `--${name} must be a number of gigabytes above 0 and up to ${MOST_GIGABYTES}, not "${text}".`);
  return Math.floor(value * 2 ** 30);
}

function pullsOnUse(text: string): boolean {
  if (text !== 'on-use' && text !== 'never') throw new Failure('bad_request', `--pull must be on-use or never, not "${text}".`);
  return text === 'on-use';
}

function list(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean);
}

function variables(name: string, names: string[]): string[] {
  const wrong = names.find((one) => !/^[A-Za-z_][A-Za-z0-9_]*$/.test(one));
  if (wrong === undefined) return names;
  throw new Failure('bad_request', `--${name} must list names of environment variables, such as MY_KEY,OTHER_KEY; "${wrong}" is not one.`);
}

function tlsFiles(cert: string, key: string): TlsFiles | null {
  if (cert === '' && key === '') return null;
  if (cert === '' || key === '')
    throw new Failure('bad_request', `--tls-${cert === '' ? 'key needs --tls-cert' : 'cert needs --tls-key'} beside it.`);
  return { cert: resolve(cert), key: resolve(key) };
}

/** Reads flags and environment; an unknown flag or a bad value is a `Failure` that names it. */
export function readOptions(args: string[], env: NodeJS.ProcessEnv): DaemonOptions {
  let flags: Record<string, string | boolean | undefined>;
  try {
    flags = parseArgs({
      args,
      options: Object.fromEntries(
        Object.keys(OPTIONS).map((name) => [name, { type: SWITCHES.has(name) ? ('boolean' as const) : ('string' as const) }]),
      ),
    }).values;
  } catch (error) {
    throw new Failure('bad_request', `${(error as Error).message} Run "quern help" for the list.`);
  }
  const text = (name: keyof typeof OPTIONS, fallback: string): string => {
    const flag = flags[name];
    return typeof flag === 'string' ? flag : (env[OPTIONS[name][0]] ?? fallback);
  };
  const yes = (name: keyof typeof OPTIONS): boolean => flags[name] === true || /^(1|true|yes)$/i.test(env[OPTIONS[name][0]] ?? '');
  return {
    host: text('host', '127.0.0.1'),
    port: port('port', text('port', '14345')),
    runtimeHost: text('runtime-host', '127.0.0.1'),
    runtimePort: port('runtime-port', text('runtime-port', '11540')),
    dataDir: resolve(text('data-dir', env.LF_DATA_DIR || join(homedir(), '.quern'))),
    runtimeUrls: list(text('runtime-url', '')),
    apiKey: text('api-key', '') || null,
    tls: tlsFiles(text('tls-cert', ''), text('tls-key', '')),
    ca: text('ca', '') || null,
    accounts: text('accounts', '') || null,
    deleteProjects: yes('delete-projects'),
    pinTemplates: yes('pin-templates'),
    allowMcp: yes('allow-mcp'),
    pullsOnUse: pullsOnUse(text('pull', '') || 'on-use'),
    otlp: otlpSettings(text('otlp-endpoint', ''), env, VERSION),
    openToNetwork: yes('open-to-network'),
    allowNetworkFs: yes('allow-network-fs'),
    allowedHosts: list(text('allowed-hosts', '')),
    allowedOrigins: list(text('allowed-origins', '')),
    allowedEnv: variables('allow-env', list(text('allow-env', ''))),
    datasetQuotaBytes: gigabytes('dataset-quota-gb', text('dataset-quota-gb', String(DATASET_BYTES / 2 ** 30))),
  };
}

/** True for addresses that only this machine reaches. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/**
 * Refuses a bind that would offer an unprotected API to the network (threat T11). `given`: the APIs whose sockets a service manager has opened, where its unit has the address
 * and not a flag.
 */
export function requireSafeBind(options: DaemonOptions, given: { has(api: 'core' | 'runtime'): boolean } = new Set()): void {
  for (const [api, flag, host] of [
    ['core', 'host', options.host],
    ['runtime', 'runtime-host', options.runtimeHost],
  ] as const) {
    if (isLoopback(host) || options.apiKey || options.accounts || options.openToNetwork) continue;
    throw new Failure(
      'forbidden',
      given.has(api)
        ? `the socket that was given for the ${api} API listens on ${host}, which would open it to the network without a key: write QUERN_API_KEY=... into /etc/quern.env, accept it there with QUERN_OPEN_TO_NETWORK=yes, or begin ListenStream in the socket unit with 127.0.0.1.`
        : `--${flag} ${host} would open the API to the network without a key: set --api-key (or QUERN_API_KEY), or accept it with --open-to-network.`,
    );
  }
}

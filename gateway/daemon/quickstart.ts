import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { FIRST_MODEL } from '../../models/built-in.js';
import type { Runtime } from '../../runtime/runtime.js';
import { Failure } from '../../schemas/errors.js';
import { type DaemonOptions, VERSION } from './options.js';

const NAMESPACE = 'default';
const PROJECT = 'quickstart';

/** Makes the project that a newcomer's first request goes to, unless its folder is there; looking for the folder costs a start nothing. */
export async function ensureQuickstart(runtime: Runtime): Promise<void> {
  if (existsSync(join(runtime.dataDir, 'projects', NAMESPACE, PROJECT))) return;
  try {
    await runtime.projects.create(NAMESPACE, { name: PROJECT });
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'conflict') throw error;
  }
}

/** What a start prints: where the APIs are, and a line to try. */
export function greeting({
  options,
  core,
  ports,
  readyMs,
  signInAt,
  names = [],
}: {
  options: DaemonOptions;
  core: boolean;
  ports: readonly number[];
  readyMs: number;
  /** Where people sign in, where accounts are on. */
  signInAt: string | undefined;
  /** The names in the certificate, where https is served. */
  names?: readonly string[] | undefined;
}): string {
  const address = (host: string, port: number): string =>
    `${options.tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const runtimePort = ports[core ? 1 : 0]!;
  const key = options.apiKey || signInAt ? " -H 'Authorization: Bearer YOUR_KEY'" : '';
  const [host, port] = core ? [options.host, ports[0]!] : [options.runtimeHost, runtimePort];
  const base = address(host, port);
  const { tls } = options;
  // Where the certificate is not for the address, it is called by the name that it is for.
  const [name = host] = names.includes(host) ? [host] : names;
  const trust = tls ? ` --cacert '${tls.cert}'${name === host ? '' : ` --resolve ${name}:${port}:${host}`}` : '';
  const path = core ? `/v1/projects/${NAMESPACE}/${PROJECT}/chat/completions` : '/v1/chat/completions';
  const body = JSON.stringify({ ...(core ? {} : { model: FIRST_MODEL.name }), messages: [{ role: 'user', content: 'Hello!' }] });
  return [
    `Quern ${VERSION}, ready in ${Math.round(readyMs)} ms`,
    ...(core ? [`  core API           ${base}  (open it in a browser: chat, files, models and more)`] : []),
    `  universal runtime  ${address(options.runtimeHost, runtimePort)}`,
    `  data               ${options.dataDir}`,
    ...(signInAt ? [`  accounts           ${signInAt}`] : []),
    'Try it:',
    `  curl -s${trust} ${address(name, port)}${path}${key} -H 'Content-Type: application/json' -d '${body}'`,
    '',
  ].join('\n');
}

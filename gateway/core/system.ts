import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { parse } from 'node:path';
import type { Runtime } from '../../runtime/runtime.js';
import { type Endpoint, endpoint, type Request } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { Disk, Health, HealthComponent, Info, VersionCheck, Volume } from '../../schemas/generated/core/system.js';
import { acceptQuality } from '../http/call.js';
import { webPage } from '../web.js';

/** The size and use of the disk that holds `path`. */
export async function volume(path: string): Promise<Volume> {
  const { bsize, blocks, bfree, bavail } = await statfs(path);
  return {
    total_bytes: blocks * bsize,
    used_bytes: (blocks - bfree) * bsize,
    free_bytes: bavail * bsize,
    path,
    percent_free: blocks === 0 ? 0 : Math.round((bavail / blocks) * 10_000) / 100,
  };
}

async function disk(runtime: Runtime): Promise<Disk> {
  try {
    const [cache, system] = await Promise.all([volume(runtime.dataDir), volume(parse(runtime.dataDir).root)]);
    return { cache, system };
  } catch (cause) {
    throw new Failure('internal', 'The free space of the data directory could not be read.', { cause });
  }
}

/** The newest section of the changelog: what this release knows about itself without asking a network. */
function releaseNotes(): string {
  const text = readFileSync(new URL('../../../CHANGELOG.md', import.meta.url), 'utf8');
  return (text.split(/^## /m)[1] ?? '').trim();
}

function versionCheck(runtime: Runtime): VersionCheck {
  return {
    current_version: runtime.version,
    latest_version: runtime.version,
    name: `Quern ${runtime.version}`,
    release_notes: releaseNotes(),
    release_url: '',
    published_at: null,
    from_cache: true,
    install: { mac_linux: 'git pull && npm start', windows: 'git pull && npm start' },
  };
}

const RANK = { healthy: 0, degraded: 1, unhealthy: 2 } as const;

/** What everybody may know: details tell of the machine and of others. */
const WITHOUT_DETAILS: Pick<Health, 'components' | 'services' | 'seeds'> = { components: [], services: {}, seeds: [] };

async function health(runtime: Runtime, visitor: Request['visitor']): Promise<Health> {
  const components: HealthComponent[] = [];
  for (const check of runtime.checks) {
    const started = performance.now();
    const result = await Promise.resolve()
      .then(() => check.run())
      .catch((error: unknown) => ({
        status: 'unhealthy' as const,
        message: error instanceof Failure ? error.message : 'the check failed',
      }));
    components.push({ name: check.name, latency_ms: Math.round(performance.now() - started), ...result });
  }
  const status = components.reduce<Health['status']>((worst, { status }) => (RANK[status] > RANK[worst] ? status : worst), 'healthy');
  const timestamp = Math.floor(Date.now() / 1000);
  if (visitor && !visitor.isAdmin) return { status, summary: status, ...WITHOUT_DETAILS, accounts: true, timestamp };
  return {
    status,
    summary: components.map(({ name, status }) => `${name}=${status}`).join(', '),
    components,
    services: Object.fromEntries(components.map(({ name, status }) => [name, status])),
    seeds: [await runtime.help.seed()],
    ...(visitor ? { accounts: true } : {}),
    timestamp,
  };
}

/** Where the data lies is for those who run the machine; others are told an empty path. */
function info(runtime: Runtime, isAdmin: boolean): Info {
  return {
    version: runtime.version,
    data_directory: isAdmin ? runtime.dataDir : '',
    transport: runtime.transport,
    node_version: process.version,
    platform: `${process.platform}-${process.arch}`,
  };
}

const tag = 'system';

/** Health, version and disk of the daemon. */
export const systemEndpoints: Endpoint<Runtime>[] = [
  endpoint({
    method: 'GET',
    path: '/',
    id: 'hello',
    access: 'anyone',
    summary: 'Say hello; browsers get the web interface',
    tag,
    response: 'core/system#Hello',
    handler: async (_runtime, request) => {
      const accept = request.header('accept');
      const wantsPage = accept !== undefined && acceptQuality(accept, 'text/html') > acceptQuality(accept, 'application/json');
      return (wantsPage && (await webPage(request.header('accept-encoding')))) || { json: { message: 'Hello, World!' } };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/info',
    id: 'info',
    access: 'users',
    summary: 'Version, data directory and transport',
    tag,
    response: 'core/system#Info',
    handler: (runtime, { visitor }) => ({ json: info(runtime, !visitor || visitor.isAdmin) }),
  }),
  endpoint({
    method: 'GET',
    path: '/health',
    id: 'health',
    access: 'anyone',
    summary: 'Check every component',
    tag,
    response: 'core/system#Health',
    handler: async (runtime, { visitor }) => ({ json: await health(runtime, visitor) }),
  }),
  endpoint({
    method: 'GET',
    path: '/health/liveness',
    id: 'liveness',
    access: 'anyone',
    summary: 'Tell that the process answers',
    tag,
    response: 'core/system#Liveness',
    handler: () => ({ json: { status: 'alive' } }),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/system/version-check',
    id: 'version_check',
    access: 'users',
    summary: 'Compare with the newest known release',
    tag,
    response: 'core/system#VersionCheck',
    handler: (runtime) => ({ json: versionCheck(runtime) }),
  }),
  endpoint({
    method: 'GET',
    path: '/v1/system/disk',
    id: 'disk',
    access: 'admins',
    summary: 'Free space of the data and system volumes',
    tag,
    response: 'core/system#Disk',
    handler: async (runtime) => ({ json: await disk(runtime) }),
  }),
];

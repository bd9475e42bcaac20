import { join } from 'node:path';
import { isatty } from 'node:tty';
import { log } from '../../runtime/base/log.js';
import { allowEnv } from '../../runtime/config/variables.js';
import { openRuntime, type Runtime } from '../../runtime/runtime.js';
import type { Endpoint } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { Front } from '../accounts/front.js';
import { coreEndpoints, coreSockets } from '../core/index.js';
import { type ChosenTransport, createTransport, dispatch, type Listener, type SocketRoute } from '../http/index.js';
import { universalEndpoints, universalSockets } from '../universal/index.js';
import { documentationEndpoints, webAssets } from '../web.js';
import { finishRestore } from './backup/restore.js';
import { type DataDirLock, keepPrivate, lockDataDir } from './data-directory.js';
import { abandonHandover, dropUpgradeNote, handOver, lockAfter, tellPredecessor } from './handover.js';
import { metricsEndpoint } from './metrics.js';
import { type DaemonOptions, isLoopback, requireSafeBind, VERSION } from './options.js';
import { boundHeap, holdSignals, surviveStrayErrors, takeShortTurns } from './process.js';
import { ensureQuickstart, greeting } from './quickstart.js';
import { type ApiName, atSockets, type GivenSockets, givenSockets, meetServiceManager, SUCCESSION, tellServiceManager } from './systemd.js';
import { type ReadTls, readTls, type TlsFiles } from './tls.js';

/** Running requests may take this long after SIGTERM; the rest of the 10 s goes to closing. */
const DRAIN_MS = 8_000;
/** After this long a drain that hangs is cut off, so that the process is gone within 10 s. */
const EXIT_LIMIT_MS = 9_500;
/** Exit code of a daemon that ends itself because too many errors were not caught (EX_SOFTWARE of sysexits.h). */
const EXIT_BROKEN = 70;

interface Running {
  runtime: Runtime;
  front: Front | undefined;
  listeners: Listener[];
}

/** What every listener is opened with. */
interface Surroundings {
  /** Sockets that listen already. */
  readonly given: GivenSockets;
  readonly transport: ChosenTransport;
  readonly options: DaemonOptions;
  readonly runtime: Runtime;
  /** Where accounts are on. */
  front: Front | undefined;
  /** Where https is served; what is in it changes when the certificate is read again. */
  readonly tls: ReadTls | undefined;
}

/** One of the APIs, and where it is served. */
interface ServedApi {
  readonly title: string;
  /** Whether it is one of the two that have a port of their own. */
  readonly name?: ApiName;
  /** Names its port on the command line. */
  readonly flag: string;
  readonly endpoints: readonly Endpoint<Runtime>[];
  readonly sockets: readonly SocketRoute<Runtime>[];
  readonly host: string;
  readonly port: number;
}

/** Hosts that the keeper of the daemon has named on its command line. */
function operatorHosts({ runtimeUrls, otlp }: DaemonOptions): string[] {
  const { HF_ENDPOINT } = process.env;
  return [...runtimeUrls, ...(otlp ? [otlp.url] : []), ...(HF_ENDPOINT ? [HF_ENDPOINT] : [])].flatMap((url) =>
    URL.canParse(url) ? [new URL(url).host] : [],
  );
}

/** Opens one of the APIs on its address. */
async function open({ transport, options, runtime, front, tls, given }: Surroundings, api: ServedApi): Promise<Listener> {
  // The address that browsers use, and pages that the module file trusts, need not be named twice.
  const trusted = front?.accounts.settings.trustedOrigins ?? [];
  const access = {
    bindHost: api.host,
    hosts: [...options.allowedHosts, ...trusted.map((origin) => new URL(origin).hostname)],
    origins: [...options.allowedOrigins, ...trusted],
    ...(options.apiKey ? { apiKey: options.apiKey } : {}),
    ...(tls ? { certificate: tls } : {}),
  };
  const endpoints = [
    ...api.endpoints,
    metricsEndpoint,
    webAssets<Runtime>(),
    ...documentationEndpoints<Runtime>({ title: api.title, version: VERSION }, api.endpoints),
  ];
  const application = dispatch({
    name: api.flag === 'port' ? 'core' : 'runtime',
    endpoints,
    sockets: api.sockets,
    context: runtime,
    access,
    guard: front,
    uploadFolder: join(options.dataDir, 'uploads'),
  });
  const descriptor = api.name && given.get(api.name)?.descriptor;
  try {
    return await transport.listen({ host: api.host, port: api.port, application, tls: tls?.identity, descriptor });
  } catch (error) {
    if (!(error instanceof Failure) || descriptor !== undefined) throw error;
    const flag = error.code === 'AddressUnknown' ? api.flag.replace('port', 'host') : api.flag;
    throw new Failure(error.kind, `${error.message} The option is --${flag}.`, { code: error.code, cause: error });
  }
}

async function openListeners(house: Surroundings, core: boolean, listeners: Listener[]): Promise<void> {
  const { options } = house;
  const coreApi: ServedApi = {
    title: 'Quern core API',
    name: 'core',
    flag: 'port',
    endpoints: coreEndpoints,
    sockets: coreSockets,
    host: options.host,
    port: options.port,
  };
  const universalApi: ServedApi = {
    title: 'Quern universal runtime',
    name: 'runtime',
    flag: 'runtime-port',
    endpoints: universalEndpoints,
    sockets: universalSockets,
    host: options.runtimeHost,
    port: options.runtimePort,
  };
  for (const api of core ? [coreApi, universalApi] : [universalApi]) listeners.push(await open(house, api));
}

/** Makes what closes everything: running requests end first, for up to `DRAIN_MS`, and the process is gone after `EXIT_LIMIT_MS` where that hangs. */
function makeClose({ runtime, front, listeners }: Running, lock: DataDirLock): () => Promise<void> {
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    const limit = setTimeout(() => process.exit(1), EXIT_LIMIT_MS).unref();
    try {
      runtime.endStreams();
      await Promise.all(listeners.map((listener) => listener.drain(DRAIN_MS)));
      await front?.close();
      await runtime.close();
      lock.release();
      clearTimeout(limit);
    } catch (error) {
      log('error', 'closing failed', { error });
      process.exit(1);
    }
  };
  return () => {
    closing ??= close();
    return closing;
  };
}

/** Ends the process once, with exit code `code`; at once when it is called again. */
function makeEnd(close: () => Promise<void>): (reason: string, code: number) => void {
  let ending = false;
  return (reason, code) => {
    if (ending) process.exit(1);
    ending = true;
    log('info', `${reason}: finishing what runs, up to ${DRAIN_MS / 1000} s; a second signal ends at once`);
    tellServiceManager('STOPPING=1');
    abandonHandover();
    void close().then(() => process.exit(code));
  };
}

/** Makes what hands over, one time at once, what `openListeners` has opened. */
function makeHandOver(dataDir: string, core: boolean, listeners: readonly Listener[], close: () => Promise<void>): () => void {
  let isUnderWay = false;
  return () => {
    if (isUnderWay) return;
    isUnderWay = true;
    const sockets = new Map(apisOf(core).map((api, index) => [api, listeners[index]!.descriptor]));
    void handOver({ dataDir, sockets, close }).finally(() => {
      isUnderWay = false;
    });
  };
}

/** The APIs that have a port, in the order in which they are opened. */
const apisOf = (core: boolean): ApiName[] => (core ? ['core', 'runtime'] : ['runtime']);

/** How requests are carried, as health tells it. */
function transportName({ name, fallbackReason }: ChosenTransport, { tls }: DaemonOptions): string {
  if (tls) return 'node (TLS)';
  return fallbackReason ? `${name} (uWebSockets.js could not be loaded: ${fallbackReason})` : name;
}

/** Makes what takes a certificate's files anew; what is wrong with them then leaves the old one in use. */
function certificateReader(files: TlsFiles, inUse: ReadTls, listeners: readonly Listener[]): () => void {
  return () => {
    try {
      const renewed = readTls(files);
      for (const listener of listeners) listener.renewTls?.(renewed.identity);
      Object.assign(inUse, renewed);
      log('info', `certificate and key were read again: ${files.cert}`);
      for (const warning of renewed.warnings) log('warn', warning);
    } catch (error) {
      log('error', 'the certificate in use stays, for the new one is refused', { error: error instanceof Failure ? error.message : error });
    }
  };
}

/** Makes what SIGHUP asks of a daemon without a certificate: nothing, unless it has a terminal, which has gone then. */
function nothingToRead(end: (reason: string, code: number) => void): () => void {
  // One that has gone is not known as a terminal any more.
  const hasTerminal = isatty(0);
  return () => (hasTerminal ? end('SIGHUP', 0) : log('info', 'SIGHUP: there is no certificate, so nothing is read again'));
}

/** Starts the daemon: lock, store, engines, listeners. Throws `Failure` with a one-line remedy; runs until a signal ends the process. */
export async function startDaemon(asked: DaemonOptions, { core }: { core: boolean }): Promise<void> {
  const started = performance.now();
  const obeySignals = holdSignals();
  boundHeap();
  meetServiceManager();
  const isSuccessor = SUCCESSION in process.env;
  allowEnv(asked.allowedEnv, asked.accounts !== null);
  const given = givenSockets(apisOf(core));
  const options = atSockets(asked, given);
  requireSafeBind(options, given);
  const tls = options.tls ? readTls(options.tls) : undefined;
  if (isSuccessor) tellPredecessor('loaded');
  const take = (): DataDirLock => lockDataDir(options.dataDir, options.allowNetworkFs);
  const lock = isSuccessor ? await lockAfter(take) : take();
  dropUpgradeNote(options.dataDir);
  finishRestore(options.dataDir);
  keepPrivate(options.dataDir);
  const transport = createTransport();
  const listeners: Listener[] = [];
  let runtime: Runtime | undefined;
  let front: Front | undefined;
  try {
    runtime = await openRuntime({
      version: VERSION,
      dataDir: options.dataDir,
      runtimeUrls: options.runtimeUrls,
      runtimePort: options.runtimePort,
      datasetQuotaBytes: options.datasetQuotaBytes,
      pinTemplates: options.pinTemplates,
      allowMcp: options.allowMcp,
      pullsOnUse: options.pullsOnUse,
      isShared: options.accounts !== null,
      otlp: options.otlp,
      deleteProjects: options.deleteProjects,
      startRunner: async ({ port, contextSize }) => {
        if (!runtime) throw new Failure('unavailable', 'the daemon is still starting; try again.');
        const served = { endpoints: universalEndpoints, sockets: universalSockets };
        const api = { title: 'Quern local runner', flag: 'port', ...served, host: '127.0.0.1', port };
        listeners.push(await open({ transport, options, runtime, front, tls: undefined, given: new Map() }, api));
        log('info', `local_accel: our own engine answers on port ${port}`, { contextSize });
      },
    });
    runtime.transport = transportName(transport, options);
    if (core) await ensureQuickstart(runtime);
    if (options.accounts !== null) {
      const { Front } = await import('../accounts/front.js');
      front = await Front.open({
        config: options.accounts,
        runtime,
        operatorKey: options.apiKey ?? undefined,
        hosts: operatorHosts(options),
      });
    }
    await openListeners({ transport, options, runtime, front, tls, given }, core, listeners);
  } catch (error) {
    await Promise.all(listeners.map((listener) => listener.drain(0)));
    await front?.close();
    await runtime?.close();
    lock.release();
    throw error;
  }
  takeShortTurns();
  runtime.hub.sweep();
  const close = makeClose({ runtime, front, listeners }, lock);
  const end = makeEnd(close);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => end(signal, 0));
  surviveStrayErrors((reason) => end(reason, EXIT_BROKEN));
  for (const warning of tls?.warnings ?? []) log('warn', warning);
  if (transport.fallbackReason) log('warn', `serving with node:http: ${transport.fallbackReason}`);
  if (!options.apiKey && !front && ![options.host, options.runtimeHost].every(isLoopback))
    log('warn', 'the API is open to the network without a key: anyone who reaches this machine can use it');
  const signInAt = front?.accounts.settings.origin;
  const ports = listeners.map(({ port }) => port);
  process.stdout.write(greeting({ options, core, ports, readyMs: performance.now() - started, signInAt, names: tls?.names }));
  if (isSuccessor) tellPredecessor('serving');
  else tellServiceManager('READY=1');
  obeySignals({
    SIGHUP: options.tls && tls ? certificateReader(options.tls, tls, listeners) : nothingToRead(end),
    SIGUSR2: makeHandOver(options.dataDir, core, listeners, close),
  });
}

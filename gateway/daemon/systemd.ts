import { closeSync, fstatSync } from 'node:fs';
import { createServer } from 'node:net';
import { loadCore } from '../../native/loader.js';
import { Failure } from '../../schemas/errors.js';
import type { DaemonOptions } from './options.js';

let address: string | undefined;

/** Takes the address of the service manager out of the environment, so that no child speaks for this daemon. */
export function meetServiceManager(env: NodeJS.ProcessEnv = process.env): void {
  address = env.NOTIFY_SOCKET || undefined;
  delete env.NOTIFY_SOCKET;
}

/** Tells systemd something by the protocol of sd_notify(3), such as `READY=1`; does nothing where no service manager listens. */
export function tellServiceManager(text: string): void {
  if (address !== undefined) loadCore().sendDatagram(address, text);
}

/** The variable that a successor finds the service manager by. */
export const serviceManagerEnv = (): NodeJS.ProcessEnv => (address === undefined ? {} : { NOTIFY_SOCKET: address });

/** The APIs that have a port. */
export type ApiName = 'core' | 'runtime';

/** A TCP socket that listens already, and the address that it is bound to. */
export interface GivenSocket {
  readonly descriptor: number;
  readonly host: string;
  readonly port: number;
}

/** Sockets that listen already, by the API that they are for. */
export type GivenSockets = ReadonlyMap<ApiName, GivenSocket>;

/** The first descriptor that systemd gives (sd_listen_fds(3)), and that a daemon gives its successor. */
const FIRST_DESCRIPTOR = 3;
/** How a daemon tells its successor for which APIs the sockets are, in their order: systemd's variables name a process, whose id is not known before. */
export const SUCCESSION = 'QUERN_SUCCEEDS';

/** Names of systemd's `FileDescriptorName`; any other says nothing, and the order counts. */
const isApi = (name: string | undefined): name is ApiName => name === 'core' || name === 'runtime';

function namesOf(env: NodeJS.ProcessEnv, pid: number, apis: readonly ApiName[]): ApiName[] {
  const succeeded = env[SUCCESSION];
  if (succeeded !== undefined) return succeeded.split(',').filter(isApi);
  if (env.LISTEN_PID !== String(pid)) return [];
  const count = Number(env.LISTEN_FDS);
  if (!(Number.isInteger(count) && count >= 0 && count <= apis.length))
    throw new Failure(
      'bad_request',
      `systemd gave ${env.LISTEN_FDS} sockets, and ${apis.length === 1 ? 'one port is' : `${apis.length} ports are`} served: correct ListenStream in the socket unit.`,
    );
  const told = (env.LISTEN_FDNAMES ?? '').split(':');
  const names = apis.slice(0, count).map((api, index) => (isApi(told[index]) ? told[index] : api));
  if (new Set(names).size < names.length)
    throw new Failure('bad_request', `systemd gave two sockets for the ${names[0]} API: correct FileDescriptorName in the socket units.`);
  return names;
}

/**
 * The sockets that systemd or the daemon before has opened for this process, for `apis` in the order of their ports. The variables that tell of
 * them are removed, and no child gets the sockets. Throws `bad_request` where there are more than ports, and where one is no TCP socket that can listen.
 */
export function givenSockets(apis: readonly ApiName[], env: NodeJS.ProcessEnv = process.env, pid: number = process.pid): GivenSockets {
  const names = namesOf(env, pid, apis);
  for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES', SUCCESSION]) delete env[name];
  return new Map(names.map((name, index) => [name, ownSocket(FIRST_DESCRIPTOR + index)]));
}

/** Whether a descriptor is a socket: where fewer came than were told of, its number is that of something else in this process. */
function isSocket(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isSocket();
  } catch {
    return false;
  }
}

/** The same socket by a descriptor that children do not get; the one that came is closed. */
function ownSocket(given: number): GivenSocket {
  if (!isSocket(given))
    throw new Failure(
      'bad_request',
      `descriptor ${given}, which this daemon should have been started with, is no open socket: start it without LISTEN_FDS.`,
    );
  const descriptor = loadCore().duplicateConnection(given);
  const address = addressOf(given);
  if (descriptor >= 0 && address) return { descriptor, ...address };
  if (descriptor >= 0) closeSync(descriptor);
  throw new Failure(
    'bad_request',
    `socket ${given} does not listen on a TCP port: name an address and a port, or a port, as ListenStream in the socket unit.`,
  );
}

/** Where a TCP socket listens; undefined for one that does not. Closes the descriptor: within one turn of the event loop, so no connection is taken. */
function addressOf(descriptor: number): { host: string; port: number } | undefined {
  const probe = createServer();
  probe.on('error', () => undefined);
  probe.listen({ fd: descriptor });
  const bound = probe.address();
  probe.close();
  return bound !== null && typeof bound === 'object' ? { host: bound.address, port: bound.port } : undefined;
}

/** The options of a daemon with the addresses of its given sockets in place of its own, by whose names it may still be called. */
export function atSockets(options: DaemonOptions, given: GivenSockets): DaemonOptions {
  const [core, runtime] = [given.get('core'), given.get('runtime')];
  return {
    ...options,
    ...(core ? { host: core.host, port: core.port } : {}),
    ...(runtime ? { runtimeHost: runtime.host, runtimePort: runtime.port } : {}),
    allowedHosts: [...options.allowedHosts, ...(core ? [options.host] : []), ...(runtime ? [options.runtimeHost] : [])],
  };
}

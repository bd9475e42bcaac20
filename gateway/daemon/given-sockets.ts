import { closeSync } from 'node:fs';
import { loadCore } from '../../native/core.js';
import { Failure } from '../../schemas/errors.js';

/** The APIs that have a port. */
export type ApiName = 'core' | 'runtime';

/** Descriptors of sockets that listen already, by the API that they are for. */
export type GivenSockets = ReadonlyMap<ApiName, number>;

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
  if (!(count >= 0 && count <= apis.length))
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
 * them are removed, and no child gets the sockets. Throws `bad_request` where there are more than ports.
 */
export function givenSockets(apis: readonly ApiName[], env: NodeJS.ProcessEnv = process.env, pid: number = process.pid): GivenSockets {
  const names = namesOf(env, pid, apis);
  for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES', SUCCESSION]) delete env[name];
  return new Map(names.map((name, index) => [name, ownDescriptor(FIRST_DESCRIPTOR + index)]));
}

/** The same socket by a descriptor that children do not get; the one that came is closed. */
function ownDescriptor(given: number): number {
  const own = loadCore().duplicateConnection(given);
  if (own < 0)
    throw new Failure(
      'bad_request',
      `socket ${given}, which this daemon should have been started with, is not open: start it without LISTEN_FDS.`,
    );
  closeSync(given);
  return own;
}

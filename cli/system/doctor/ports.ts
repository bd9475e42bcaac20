import type { Finding } from '../../../runtime/machine/machine.js';
import type { MachineReader } from '../../../runtime/machine/reader.js';

/** A port that a daemon opens. */
export interface Port {
  /** The option that names another. */
  readonly flag: string;
  readonly port: number;
  /** Whether a daemon of ours answers there, somebody else does, or nobody. */
  readonly state: 'ours' | 'taken' | 'free';
}

/** As the kernel writes it: a socket that listens. */
const LISTENS = '0A';

/** The inodes of the sockets that listen at a port. */
function socketsAt(reader: MachineReader, port: number): Set<string> {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((path) => reader.text(path).split('\n').slice(1));
  return new Set(
    rows.flatMap((row) => {
      const [, local = '', , state, , , , , , inode] = row.trim().split(/\s+/);
      return local.endsWith(wanted) && state === LISTENS && inode !== undefined ? [`socket:[${inode}]`] : [];
    }),
  );
}

/** Which process listens at a port, such as `nginx (process 71)`; undefined where the system does not tell this user. */
function whose(reader: MachineReader, port: number): string | undefined {
  const sockets = socketsAt(reader, port);
  if (sockets.size === 0) return undefined;
  for (const id of reader.names('/proc').filter((name) => /^\d+$/.test(name)))
    for (const file of reader.names(`/proc/${id}/fd`))
      if (sockets.has(reader.link(`/proc/${id}/fd/${file}`)))
        return `${reader.text(`/proc/${id}/comm`).trim() || 'a program'} (process ${id})`;
  return undefined;
}

/** Whether the ports of a daemon are free, ours, or whose. */
export const portFindings = (reader: MachineReader, ports: readonly Port[]): Finding[] =>
  ports.map(({ flag, port, state }) => {
    const about = 'port';
    if (state === 'free') return { about, state: 'good', found: `${port} is free`, advice: '' };
    if (state === 'ours') return { about, state: 'good', found: `${port} is this daemon's`, advice: '' };
    const owner = whose(reader, port) ?? 'another program, of a user whom the system does not tell';
    return {
      about,
      state: 'bad',
      found: `${port} is taken by ${owner}`,
      advice: `end that program, or choose another port with --${flag}`,
    };
  });

import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type DaemonOptions, VERSION } from '../../gateway/daemon/options.js';
import { loadCore } from '../../native/loader.js';
import { arePrebuilt, prebuiltComplaint } from '../../native/prebuilt.js';
import { humanSize } from '../../runtime/base/files.js';
import { type Finding, machineFindings, machineOf } from '../../runtime/machine/machine.js';
import { type MachineReader, thisMachine } from '../../runtime/machine/reader.js';
import { hubSettings } from '../../runtime/models/fetch/settings.js';
import { DaemonClient } from '../daemon/client.js';
import type { Run } from '../verb.js';

const NODE_MAJOR = 20;
const NATIVE = fileURLToPath(new URL('../../../build/native', import.meta.url));
const SHOWN_HASH = 8;

/** How the native parts are; each text is one that `loadCore` and its neighbours gave. */
export interface AddonState {
  /** Why they are not to be used or do not load; null where they load. */
  readonly complaint: string | null;
  /** The best instructions of the processor that their code takes. */
  readonly instructions: string;
  /** They came with the package, and were not built here. */
  readonly isPrebuilt: boolean;
  /** Of the sources that they were built from, in hex; empty where nobody noted it. */
  readonly sources: string;
}

/** Loads the native parts into this process and says how they are. */
export function addonState(): AddonState {
  const isPrebuilt = arePrebuilt();
  const stamp = join(NATIVE, 'addon.stamp');
  const sources = existsSync(stamp) ? readFileSync(stamp, 'utf8').trim() : '';
  try {
    const complaint = prebuiltComplaint();
    if (complaint !== undefined) return { complaint, instructions: '', isPrebuilt, sources };
    return { complaint: null, instructions: loadCore().instructionSet(), isPrebuilt, sources };
  } catch (error) {
    const { message, cause } = error as Error;
    return { complaint: String((cause as Error | undefined)?.message ?? message).split('\n')[0]!, instructions: '', isPrebuilt, sources };
  }
}

function addonFinding({ complaint, instructions, isPrebuilt, sources }: AddonState): Finding {
  const from = isPrebuilt
    ? 'as they were packed'
    : `built here${sources === '' ? '' : ` from the sources ${sources.slice(0, SHOWN_HASH)}`}`;
  if (complaint === null) return { about: 'native parts', state: 'good', found: `load (${instructions}), ${from}`, advice: '' };
  const advice = isPrebuilt
    ? 'the next start builds them from their source: install g++, cmake and git'
    : 'delete build/native and run "npm start"';
  return { about: 'native parts', state: 'bad', found: complaint, advice };
}

/** Node.js, the program, its native parts, and what builds them. */
export function installationFindings(reader: MachineReader, node: string, addon: AddonState): Finding[] {
  const isNew = Number(node.split('.')[0]) >= NODE_MAJOR;
  const compiler = ['g++', 'clang++', 'c++'].find((name) => reader.output(name, '--version') !== '');
  const isWanted = compiler === undefined && addon.complaint !== null;
  return [
    { about: 'Node.js', state: isNew ? 'good' : 'bad', found: node, advice: isNew ? '' : `install version ${NODE_MAJOR} or newer` },
    { about: 'Quern', state: 'good', found: VERSION, advice: '' },
    addonFinding(addon),
    {
      about: 'compiler',
      state: 'good',
      found: compiler ?? 'none',
      advice: isWanted ? 'install g++ and cmake, which build the native parts' : '',
    },
  ];
}

const LITTLE_DISK = 5 * 1024 ** 3;
/** Reading, writing and entering by others than the owner. */
const OTHERS = 0o077;
const HALF = /\.incomplete$/;

/** The nearest folder above a path that is there. */
function nearestFolder(reader: MachineReader, path: string): string {
  for (let folder = path; ; folder = dirname(folder)) if (reader.facts(folder) || folder === dirname(folder)) return folder;
}

function dataFinding(reader: MachineReader, dataDir: string): Finding {
  const facts = reader.facts(dataDir);
  const about = 'data';
  const above = nearestFolder(reader, dataDir);
  if (reader.facts(above)?.isFolder === false)
    return { about, state: 'bad', found: `${above} is a file, and no folder`, advice: 'choose another with --data-dir' };
  if (!reader.may('write', above))
    return { about, state: 'bad', found: `${dataDir} cannot be written`, advice: 'make it writable, or choose another with --data-dir' };
  if (!facts) return { about, state: 'good', found: `${dataDir}, which the first start makes`, advice: '' };
  if (reader.user !== null && reader.user !== 0 && facts.owner !== reader.user)
    return {
      about,
      state: 'note',
      found: `${dataDir} belongs to user ${facts.owner}`,
      advice: 'start the daemon as that user, or choose another with --data-dir',
    };
  if ((facts.mode & OTHERS) !== 0)
    return {
      about,
      state: 'note',
      found: `${dataDir} is open to other users (${facts.mode.toString(8)})`,
      advice: `the next start closes it; so does: chmod -R go= ${dataDir}`,
    };
  return { about, state: 'good', found: `${dataDir}, for its owner alone`, advice: '' };
}

function diskFinding(reader: MachineReader, dataDir: string): Finding {
  const free = reader.freeBytes(nearestFolder(reader, dataDir));
  const isLittle = free < LITTLE_DISK;
  return {
    about: 'disk',
    state: isLittle ? 'note' : 'good',
    found: `${humanSize(free)} free`,
    advice: isLittle ? 'models need room: "quern rm" takes some away' : '',
  };
}

/** What lies in the cache that this machine's programs share. */
function cacheFinding(reader: MachineReader, cache: string, isOffline: boolean): Finding {
  const about = 'model cache';
  if (!reader.facts(cache)) return { about, state: 'good', found: `none yet in ${cache}`, advice: offlineAdvice(isOffline) };
  const repositories = reader.names(cache).filter((name) => name.startsWith('models--'));
  const folders = repositories.map((name) => join(cache, name, 'blobs'));
  const closed = [cache, ...folders].filter((folder) => reader.facts(folder) && !reader.may('read', folder));
  if (closed.length > 0)
    return { about, state: 'bad', found: `${closed[0]} cannot be read`, advice: 'make it readable, or name another cache in HF_HUB_CACHE' };
  const files = folders.flatMap((folder) =>
    reader.names(folder).map((name) => ({ name, bytes: reader.facts(join(folder, name))?.bytes ?? 0 })),
  );
  const size = (some: typeof files): string => humanSize(some.reduce((sum, { bytes }) => sum + bytes, 0));
  const halves = files.filter(({ name }) => HALF.test(name));
  const count = `${repositories.length} ${repositories.length === 1 ? 'model' : 'models'}, ${size(files)} in ${cache}`;
  if (!reader.may('write', cache))
    return {
      about,
      state: 'note',
      found: `${count}, which cannot be written`,
      advice: 'models can be used and not fetched: make it writable, or set HF_HUB_CACHE',
    };
  if (halves.length > 0)
    return {
      about,
      state: 'note',
      found: `${count}; ${halves.length} unfinished (${size(halves)})`,
      advice: '"quern pull" of the same model goes on; a start removes ours that a day has not touched',
    };
  return { about, state: isOffline ? 'note' : 'good', found: count, advice: offlineAdvice(isOffline) };
}

const offlineAdvice = (isOffline: boolean): string => (isOffline ? 'HF_HUB_OFFLINE is set: no model is fetched' : '');

/** Where data and models lie: rights, room, and what downloads have left. */
export const placeFindings = (
  reader: MachineReader,
  { dataDir, cache, isOffline }: { readonly dataDir: string; readonly cache: string; readonly isOffline: boolean },
): Finding[] => [dataFinding(reader, dataDir), diskFinding(reader, dataDir), cacheFinding(reader, cache, isOffline)];

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
function portOwner(reader: MachineReader, port: number): string | undefined {
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
    const owner = portOwner(reader, port) ?? 'another program, of a user whom the system does not tell';
    return {
      about,
      state: 'bad',
      found: `${port} is taken by ${owner}`,
      advice: `end that program, or choose another port with --${flag}`,
    };
  });

const PORT_MS = 1000;

/** Whether anything listens at an address. */
const isTaken = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host, port, timeout: PORT_MS });
    const end = (answer: boolean) => () => {
      socket.destroy();
      resolve(answer);
    };
    socket.on('connect', end(true)).on('error', end(false)).on('timeout', end(false));
  });

/** Whether a daemon answers, and whose its ports are. */
async function daemonFindings(options: DaemonOptions): Promise<Finding[]> {
  const daemon = new DaemonClient(options);
  try {
    const asked = await Promise.all([
      daemon.ask<{ version?: string }>('/info').catch(() => null),
      daemon.ask<{ loaded_models?: unknown }>('/health', { api: 'runtime' }).catch(() => null),
    ]);
    const [version, loaded] = [asked[0]?.version, asked[1]?.loaded_models];
    const stateOf = async (isOurs: boolean, host: string, port: number): Promise<Port['state']> =>
      isOurs ? 'ours' : (await isTaken(host, port)) ? 'taken' : 'free';
    const ports = [
      { flag: 'port', port: options.port, state: await stateOf(version !== undefined, options.host, options.port) },
      {
        flag: 'runtime-port',
        port: options.runtimePort,
        state: await stateOf(loaded !== undefined, options.runtimeHost, options.runtimePort),
      },
    ];
    const found = version === undefined ? 'none answers' : `${version} answers at ${daemon.baseOf('core')}`;
    const advice = version === undefined ? '"quern start" starts one' : '';
    return [{ about: 'daemon', state: 'good', found, advice }, ...portFindings(thisMachine, ports)];
  } finally {
    await daemon.close();
  }
}

const MARKS = { good: ['green', 'ok  '], note: ['yellow', 'note'], bad: ['red', 'bad '] } as const;

/** Looks at the machine, the installation, the disk and the daemon, and says what to mend. The exit code is 1 where something is bad. */
export const doctor: Run = async ({ daemon, out }) => {
  const { cache, offline } = hubSettings();
  const findings = [
    ...installationFindings(thisMachine, process.versions.node, addonState()),
    ...machineFindings(machineOf(thisMachine)),
    ...placeFindings(thisMachine, { dataDir: daemon.dataDir, cache, isOffline: offline }),
    ...(await daemonFindings(daemon)),
  ];
  return {
    result: findings,
    isBad: findings.some(({ state }) => state === 'bad'),
    show: () => {
      for (const { about, state, found, advice } of findings) {
        const [style, mark] = MARKS[state];
        out.line(`${out.style(style, mark)}  ${about.padEnd(14)}${found}`);
        if (advice !== '') out.line(`${' '.repeat(20)}${advice}`);
      }
    },
  };
};

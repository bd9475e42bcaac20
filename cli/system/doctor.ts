import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DaemonOptions } from '../../gateway/daemon/options.js';
import { VERSION } from '../../gateway/daemon/version.js';
import { humanSize } from '../../runtime/base/sizes.js';
import { type Finding, machineFindings } from '../../runtime/machine/findings.js';
import { machineOf } from '../../runtime/machine/machine.js';
import { type MachineReader, thisMachine } from '../../runtime/machine/reader.js';
import { baseOf } from '../daemon/address.js';
import { DaemonClient } from '../daemon/client.js';
import type { Run } from '../verb.js';

const NODE_MAJOR = 20;
const LITTLE_DISK = 5 * 1024 ** 3;
const PORT_MS = 1000;
const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');

function programFindings(reader: MachineReader): Finding[] {
  const [major = 0] = process.versions.node.split('.').map(Number);
  const addon = join(ROOT, 'build', 'Release');
  const hasAddon = existsSync(addon) || existsSync(join(ROOT, 'build', 'bundle'));
  const compiler = ['g++', 'clang++', 'c++'].find((name) => reader.output(name, '--version') !== '');
  return [
    {
      about: 'Node.js',
      state: major >= NODE_MAJOR ? 'good' : 'bad',
      found: process.versions.node,
      advice: major >= NODE_MAJOR ? '' : `install version ${NODE_MAJOR} or newer`,
    },
    {
      about: 'Quern',
      state: hasAddon ? 'good' : 'bad',
      found: VERSION,
      advice: hasAddon ? '' : 'its native parts are not built: run "npm start"',
    },
    {
      about: 'compiler',
      state: 'good',
      found: compiler ?? 'none',
      advice: compiler === undefined && !hasAddon ? 'install g++ and cmake, which build the native parts' : '',
    },
  ];
}

function placeFindings({ dataDir }: DaemonOptions): Finding[] {
  const place = existsSync(dataDir) ? dataDir : dirname(dataDir);
  try {
    accessSync(place, constants.W_OK);
    const { bavail, bsize } = statfsSync(place);
    const free = bavail * bsize;
    const isLittle = free < LITTLE_DISK;
    return [
      { about: 'data', state: 'good', found: dataDir, advice: '' },
      {
        about: 'disk',
        state: isLittle ? 'note' : 'good',
        found: `${humanSize(free)} free`,
        advice: isLittle ? 'models need room: "quern rm" takes some away' : '',
      },
    ];
  } catch (error) {
    return [
      {
        about: 'data',
        state: 'bad',
        found: `${dataDir}: ${(error as Error).message}`,
        advice: 'make it writable, or choose another with --data-dir',
      },
    ];
  }
}

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

async function daemonFindings(options: DaemonOptions): Promise<Finding[]> {
  const daemon = new DaemonClient(options);
  try {
    const info = (await daemon.ask<{ version?: string }>('/info').catch((error: Error) => error)) ?? {};
    if (!(info instanceof Error) && info.version !== undefined)
      return [{ about: 'daemon', state: 'good', found: `${info.version} answers at ${daemon.baseOf('core')}`, advice: '' }];
    const ports = [
      ['port', 'core', options.host, options.port],
      ['runtime-port', 'runtime', options.runtimeHost, options.runtimePort],
    ] as const;
    const taken = await Promise.all(
      ports.map(async ([flag, api, host, port]) => ((await isTaken(host, port)) ? [flag, baseOf(options, api)] : [])),
    );
    const strangers = taken.flatMap(([flag, base]) =>
      flag === undefined
        ? []
        : [{ about: 'port', state: 'bad', found: `something else listens at ${base}`, advice: `choose another with --${flag}` } as const],
    );
    return [{ about: 'daemon', state: 'good', found: 'none runs', advice: '"quern start" starts one' }, ...strangers];
  } finally {
    await daemon.close();
  }
}

const MARKS = { good: ['green', 'ok  '], note: ['yellow', 'note'], bad: ['red', 'bad '] } as const;

/** Looks at the machine, the installation, the disk and the daemon, and says what to mend. The exit code is 1 where something is bad. */
export const doctor: Run = async ({ daemon, out }) => {
  const findings = [
    ...programFindings(thisMachine),
    ...machineFindings(machineOf(thisMachine)),
    ...placeFindings(daemon),
    ...(await daemonFindings(daemon)),
  ];
  return {
    result: findings,
    isBad: findings.some(({ state }) => state === 'bad'),
    show: () => {
      for (const { about, state, found, advice } of findings) {
        const [style, mark] = MARKS[state];
        out.line(`${out.style(style, mark)}  ${about.padEnd(12)}${found}`);
        if (advice !== '') out.line(`${' '.repeat(18)}${advice}`);
      }
    },
  };
};

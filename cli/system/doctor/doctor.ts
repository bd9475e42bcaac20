import { connect } from 'node:net';
import type { DaemonOptions } from '../../../gateway/daemon/options.js';
import { type Finding, machineFindings, machineOf } from '../../../runtime/machine/machine.js';
import { thisMachine } from '../../../runtime/machine/reader.js';
import { hubSettings } from '../../../runtime/models/fetch/settings.js';
import { DaemonClient } from '../../daemon/client.js';
import type { Run } from '../../verb.js';
import { addonState, installationFindings } from './installation.js';
import { placeFindings } from './places.js';
import { type Port, portFindings } from './ports.js';

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

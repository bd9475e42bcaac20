import { setTimeout as sleep } from 'node:timers/promises';
import { lockFile } from '../../gateway/daemon/data-directory.js';
import { humanSize } from '../../runtime/base/files.js';
import { isAlive, type Owner, readOwner } from '../../runtime/hosts/processes.js';
import { Failure } from '../../schemas/errors.js';
import type { RunningFetches, Unloaded } from '../../schemas/generated/core/models.js';
import type { Health as CoreHealth, Disk, Info } from '../../schemas/generated/core/system.js';
import type { Health } from '../../schemas/generated/universal/health.js';
import type { ModelList } from '../../schemas/generated/universal/models.js';
import { withDaemon } from '../daemon/client.js';
import { wrapped } from '../output.js';
import type { Call, Outcome, Run } from '../verb.js';

const STATUS_STYLES = { healthy: 'green', degraded: 'yellow', unhealthy: 'red' } as const;
/** A daemon that is told to stop finishes what runs for at most 10 s. */
const STOP_MS = 15_000;
const LOOK_AGAIN_MS = 50;

/** Whether a daemon runs, and how its parts are. The exit code is 5 where none runs, and 1 where a part is not well. */
export const status: Run = (call) =>
  withDaemon(
    call,
    async (daemon) => {
      const { out } = call;
      const [info, health, disk] = await Promise.all([
        daemon.ask<Info>('/info'),
        daemon.ask<CoreHealth>('/health'),
        daemon.ask<Disk>('/v1/system/disk'),
      ]);
      return {
        result: { ...info, core: daemon.baseOf('core'), runtime: daemon.baseOf('runtime'), health, disk },
        isBad: health.status === 'unhealthy',
        show: () => {
          out.line(`Quern ${info.version} answers at ${daemon.baseOf('core')} (core) and ${daemon.baseOf('runtime')} (runtime)`);
          out.line(`data in ${info.data_directory}, ${humanSize(disk.cache.free_bytes)} free (${disk.cache.percent_free} %)\n`);
          for (const { name, status: state, message } of health.components) {
            const text = wrapped(`${state.padEnd(10)} ${name.padEnd(18)} ${message}`, out.width, 30);
            out.line(text.replace(state, () => out.style(STATUS_STYLES[state], state)));
          }
        },
      };
    },
    { starts: false },
  );

/** The models that are in memory, where they run, those on their way here, and those that come with the program. */
export const ps: Run = (call) =>
  withDaemon(
    call,
    async (daemon) => {
      const [{ data }, { engines = [], loading_models: loading = [], fetching_models: fetching = [], builtin_models: builtIn = [] }] =
        await Promise.all([daemon.ask<ModelList>('/v1/models', { api: 'runtime' }), daemon.ask<Health>('/health', { api: 'runtime' })]);
      const models = data.flatMap(({ id, copies }) =>
        copies.map(({ type, key }) => {
          const { used = [], why = '' } = engines.find(({ model }) => model === key) ?? {};
          return { name: id, type, devices: used, why };
        }),
      );
      return {
        result: { models, loading, fetching, built_in: builtIn },
        show: () => {
          const rows = models.map(({ name, type, devices, why }) => [name, String(type), devices.join(', ') || 'cpu', why ?? '']);
          if (rows.length === 0) call.out.line('no model is in memory; the first request loads one');
          else call.out.table(['MODEL', 'KIND', 'DEVICE', 'WHY'], rows);
          for (const name of loading) call.out.line(`${String(name)} is being loaded`);
          for (const fetch of fetching) call.out.line(fetchText(fetch));
          call.out.line(`built in: ${builtIn.map(({ name }) => name).join(', ')}`);
        },
      };
    },
    { starts: false },
  );

/** How far a model is that comes from the hub. */
function fetchText({ model, bytes, total_bytes: total, eta_seconds: restS }: RunningFetches[number]): string {
  const share = bytes !== null && total !== null ? `: ${humanSize(bytes)} of ${humanSize(total)}` : '';
  return `${model} is being fetched${share}${restS === null ? '' : `, about ${restS} s left`}`;
}

/** The process of the daemon that uses a data directory. Throws `unavailable` where there is none. */
export function ownerOf(dataDir: string): Owner {
  const owner = readOwner(lockFile(dataDir));
  if (owner && isAlive(owner)) return owner;
  throw new Failure('unavailable', `no daemon uses the data directory ${dataDir}; name another with --data-dir.`);
}

/** Sends a signal to a daemon; 0 only finds out whether it may be sent. Throws `forbidden` where it belongs to another user. */
export function signal({ pid }: Owner, name: NodeJS.Signals | 0): void {
  try {
    process.kill(pid, name);
  } catch (cause) {
    throw new Failure('forbidden', `the daemon (process ${pid}) belongs to another user: run this command as that user.`, { cause });
  }
}

/** Takes a model out of the memory of the daemon, or without a name ends the daemon. */
export const stop: Run = (call) => (call.words[0] === undefined ? stopDaemon(call) : stopModel(call, call.words[0]));

/** What uses the model is finished first. */
const stopModel = (call: Call, model: string): Promise<Outcome> =>
  withDaemon(
    call,
    async (daemon) => {
      const { unloaded } = await daemon.ask<Unloaded>('/v1/models/unload', { json: { model } });
      return { result: { model, unloaded }, show: () => call.out.line(`${model} leaves the memory`) };
    },
    { starts: false },
  );

/** Ends the daemon that uses the data directory; resolves when it is gone. What runs is finished first, for up to 10 s. */
async function stopDaemon({ daemon: { dataDir }, out }: Call): Promise<Outcome> {
  const owner = ownerOf(dataDir);
  signal(owner, 'SIGTERM');
  for (const until = Date.now() + STOP_MS; isAlive(owner); await sleep(LOOK_AGAIN_MS))
    if (Date.now() > until)
      throw new Failure(
        'timed_out',
        `the daemon (process ${owner.pid}) did not end within ${STOP_MS / 1000} s; "kill -9 ${owner.pid}" ends it.`,
      );
  return { result: { stopped: owner.pid }, show: () => out.line(`the daemon (process ${owner.pid}) has ended`) };
}

import { createReadStream, watch as watchFolder } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { humanSize } from '../../runtime/base/files.js';
import { Failure } from '../../schemas/errors.js';
import type { ActionReply, DatasetList, DatasetReply, Strategies, UploadReply } from '../../schemas/generated/core/datasets.js';
import type { Task } from '../../schemas/generated/core/tasks.js';
import { type DaemonClient, formOf, route, withDaemon } from '../daemon/client.js';
import { withoutControls } from '../output.js';
import { type Call, type Run, textOf } from '../verb.js';

const LOOK_AGAIN_MS = 300;
/** Work that was stopped is cancelled in this time, within what Ctrl+C leaves. */
const CANCEL_MS = 8000;
/** Changes of a watched folder are taken together when it has been quiet for so long. */
const QUIET_MS = 1000;

const datasetsOf = (call: Call): string => {
  const { namespace, project } = call.project;
  return route`/v1/projects/${namespace}/${project}/datasets`;
};

/** The datasets of a project with their files. */
export const datasets: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const list = await daemon.ask<DatasetList>(`${datasetsOf(call)}?include_extra_details=true`);
    return {
      result: list,
      show: () => {
        const rows = list.datasets.map((one) => [
          one.name,
          String(one.files.length),
          humanSize(one.details?.total_size_bytes ?? 0),
          one.database,
          one.data_processing_strategy,
        ]);
        if (rows.length === 0) call.out.line('no dataset yet; "quern datasets create NAME" makes one');
        else call.out.table(['DATASET', 'FILES', 'SIZE', 'DATABASE', 'STRATEGY'], rows);
      },
    };
  });

/** Makes a dataset; strategy and database are the project's first ones unless they are named. */
export const createDataset: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const at = datasetsOf(call);
    const { data_processing_strategies: strategies, databases } = await daemon.ask<Strategies>(`${at}/strategies`);
    const [strategy, database] = [textOf(call, 'strategy') ?? strategies[0], textOf(call, 'database') ?? databases[0]];
    if (strategy === undefined || database === undefined)
      throw new Failure('bad_request', 'the project has no strategy or no database: add a "rag" section to its file.');
    const json = { name: call.words[0]!, data_processing_strategy: strategy, database };
    const made = await daemon.ask<DatasetReply>(at, { json });
    return { result: made, show: () => call.out.line(`made ${call.words[0]}; "quern datasets add ${call.words[0]} FILE ..." fills it`) };
  });

/** Adds files, and the files of folders, to a dataset and processes them unless `--no-process` was given. */
export const addFiles: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const [dataset = '', ...paths] = call.words;
    const files = (await Promise.all(paths.map(filesBelow))).flat();
    if (files.length === 0) throw new Failure('bad_request', `there is no file in ${paths.join(', ')}.`);
    const replies = await upload(call, daemon, dataset, files);
    const added = replies.filter(({ skipped }) => !skipped).length;
    const task = added > 0 && call.flags['no-process'] !== true ? await workUnlessStopped(call, daemon, dataset) : null;
    return {
      result: { files: replies, task },
      isBad: task !== null && task.state !== 'SUCCESS',
      show: () => call.out.line(`${added} of ${replies.length} files are new in ${dataset}`),
    };
  });

/** Processes what is new in a dataset, and shows file by file how it ended. */
export const processDataset: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const task = await workUnlessStopped(call, daemon, call.words[0]!);
    return { result: task, isBad: task.state !== 'SUCCESS' };
  });

/** Removes a dataset with its files and their passages. */
export const removeDataset: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const gone = await daemon.ask<unknown>(`${datasetsOf(call)}${route`/${call.words[0]!}`}`, { method: 'DELETE' });
    return { result: gone, show: () => call.out.line(`removed ${call.words[0]}`) };
  });

/** Adds a folder to a dataset, and then each file that comes or changes, until Ctrl+C. */
export const watchDataset: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const [dataset = '', folder = ''] = call.words;
    const found = await stat(folder).catch(() => null);
    if (!found?.isDirectory()) throw new Failure('bad_request', `${folder} is not a folder; give one that is there.`);
    let changed = new Set((await filesBelow(folder)).map(({ path }) => path));
    watchFolder(folder, { recursive: true }, (_event, name) => {
      if (name !== null && !isHidden(name)) changed.add(join(folder, name));
    });
    call.out.note(`watching ${folder}; Ctrl+C ends it`);
    for (;;) {
      const before = changed.size;
      await sleep(QUIET_MS, undefined, { signal: daemon.signal });
      if (changed.size === 0 || changed.size !== before) continue;
      const paths = [...changed];
      changed = new Set();
      const found = (await Promise.all(paths.map((path) => filesBelow(path).catch(() => [])))).flat();
      const files = found.map(({ path }) => ({ path, name: relative(folder, path) }));
      const replies = await upload(call, daemon, dataset, files);
      if (replies.some(({ skipped }) => !skipped)) await followWork(call, daemon, await startWork(call, daemon, dataset));
    }
  });

/** Whether a path has a part that programs hide. */
const isHidden = (path: string): boolean => path.split(/[\\/]/).some((part) => part.startsWith('.'));

/** A file and the name that it gets in a dataset: with the folders below the one that was named, so that files of one name stay apart. */
interface FoundFile {
  readonly path: string;
  readonly name: string;
}

/** The files of a path: itself, or all below it but hidden ones. Throws `not_found` where there is nothing. */
async function filesBelow(path: string): Promise<FoundFile[]> {
  const found = await stat(path).catch(() => null);
  if (!found) throw new Failure('not_found', `there is no file or folder ${path}.`);
  if (found.isFile()) return [{ path, name: basename(path) }];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter((file) => !isHidden(relative(path, file)))
    .sort()
    .map((file) => ({ path: file, name: relative(path, file).replaceAll('\\', '/') }));
}

async function upload(call: Call, daemon: DaemonClient, dataset: string, files: readonly FoundFile[]): Promise<UploadReply[]> {
  const { out } = call;
  const at = `${datasetsOf(call)}${route`/${dataset}/data`}?auto_process=false`;
  const replies: UploadReply[] = [];
  for (const { path, name } of files) {
    out.progress(`${replies.length + 1} of ${files.length}  ${name}`);
    const { body, headers } = formOf({}, { field: 'file', name, content: createReadStream(path) });
    const reply = await daemon.ask<UploadReply>(at, { body, headers });
    replies.push(reply);
    out.endProgress();
    out.line(`${reply.skipped ? 'known   ' : 'added   '} ${withoutControls(path)}`);
  }
  return replies;
}

/** Starts the work on a dataset and resolves to the path of its task. */
async function startWork(call: Call, daemon: DaemonClient, dataset: string): Promise<string> {
  const { namespace, project } = call.project;
  const { task_id: id } = await daemon.ask<ActionReply>(`${datasetsOf(call)}${route`/${dataset}/actions`}`, {
    json: { action_type: 'process' },
  });
  return route`/v1/projects/${namespace}/${project}/tasks/${id!}`;
}

/** Works on a dataset; where a person stops it, the daemon takes back what it has done. */
async function workUnlessStopped(call: Call, daemon: DaemonClient, dataset: string): Promise<Task> {
  const at = await startWork(call, daemon, dataset);
  try {
    return await followWork(call, daemon, at);
  } catch (error) {
    if (daemon.signal?.aborted) {
      call.out.endProgress();
      call.out.note(`stopped; the daemon takes back what was done, and "quern datasets process ${dataset}" begins again`);
      await daemon.ask(at, { method: 'DELETE', signal: AbortSignal.timeout(CANCEL_MS) });
    }
    throw error;
  }
}

/** Follows the work on a dataset to its end. */
async function followWork(call: Call, daemon: DaemonClient, at: string): Promise<Task> {
  for (;;) {
    const task = await daemon.ask<Task>(at);
    const {
      current = 0,
      total = 0,
      message = '',
      files_per_second: rate,
      eta_seconds: left,
    } = (task.meta ?? {}) as Record<string, string | number>;
    const pace =
      rate === undefined ? '' : `  ${Number(rate).toFixed(1)} files/s${left === undefined ? '' : `  ${Math.ceil(Number(left))} s left`}`;
    call.out.progress(`${current} of ${total}  ${message}${pace}`);
    if (!['PENDING', 'STARTED', 'RETRY'].includes(task.state)) {
      call.out.endProgress();
      showEnd(call, task);
      return task;
    }
    await sleep(LOOK_AGAIN_MS, undefined, { signal: daemon.signal });
  }
}

interface WorkedFile {
  readonly filename?: string;
  readonly status?: string;
  readonly chunks?: number | null;
  readonly parser?: string | null;
  readonly error?: string | null;
  readonly reason?: string | null;
}

function showEnd({ out }: Call, task: Task): void {
  const { details = [] } = (task.result ?? {}) as { details?: [boolean, WorkedFile][] };
  if (details.length > 0)
    out.table(
      ['FILE', '', 'PASSAGES', 'READ BY', ''],
      details.map(([isDone, { filename, status, chunks, parser, error, reason }]) => [
        filename ?? '',
        status ?? (isDone ? 'processed' : 'failed'),
        chunks == null ? '' : String(chunks),
        parser ?? '',
        error ?? reason ?? '',
      ]),
    );
  if (task.error !== null) out.note(task.error);
}

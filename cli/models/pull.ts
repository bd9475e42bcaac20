import type { DaemonOptions } from '../../gateway/daemon/options.js';
import { BUILT_IN_MODELS } from '../../models/built-in.js';
import { humanSize } from '../../runtime/base/files.js';
import { machineOf } from '../../runtime/machine/machine.js';
import { thisMachine } from '../../runtime/machine/reader.js';
import { measuredBandwidth, recommendedFor } from '../../runtime/machine/suggestions.js';
import { type DownloadEvent, downloadFailure } from '../../runtime/models/fetch/download.js';
import { Failure } from '../../schemas/errors.js';
import { interruptible } from '../interrupt.js';
import type { Output } from '../output.js';
import type { Outcome, Run } from '../verb.js';
import { openModelCache } from './model-cache.js';

/** Which models suit this machine. */
async function recommend(out: Output): Promise<Outcome> {
  const machine = machineOf(thisMachine);
  const found = recommendedFor(machine, measuredBandwidth());
  return {
    result: {
      processor: machine.processor,
      cores: machine.cores,
      memory_bytes: machine.memoryBytes,
      accelerators: machine.accelerators.map(({ memoryBytes, isUsable, ...one }) => ({
        ...one,
        memory_bytes: memoryBytes,
        usable: isUsable,
      })),
      models: found.map(({ expected, isBest, ...model }) => ({ ...model, tokens_per_s: expected, best: isBest })),
    },
    show: () => {
      const devices = machine.accelerators.filter(({ isUsable }) => isUsable).map(({ name }) => name);
      out.line(
        `For ${machine.processor}, ${machine.cores} cores, ${humanSize(machine.memoryBytes)}${devices.length > 0 ? `, ${devices.join(', ')}` : ''}:\n`,
      );
      out.table(
        ['FOR', 'MODEL', 'SIZE', 'EXPECTED', ''],
        found.map(({ task, name, bytes, expected, isBest }) => [
          task,
          name,
          humanSize(bytes),
          expected === null ? '' : `${expected < 10 ? expected.toFixed(1) : expected.toFixed(0)} tokens/s`,
          isBest ? 'best here' : '',
        ]),
      );
      out.line('\n"quern pull MODEL" fetches one. Speeds are what the memory of this machine lets the processor reach.');
    },
  };
}

const BAR_CHARS = 24;
const MINUTE_S = 60;

const time = (seconds: number): string => `${Math.floor(seconds / MINUTE_S)}:${String(Math.floor(seconds % MINUTE_S)).padStart(2, '0')}`;

/** Shows the events of a download: one bar over all files on a terminal, a line for each file elsewhere. */
export class ProgressView {
  readonly #out: Pick<Output, 'line' | 'progress' | 'endProgress'>;
  #totalBytes = 0;
  /** Of the files that are complete. */
  #doneBytes = 0;

  constructor(out: Pick<Output, 'line' | 'progress' | 'endProgress'>) {
    this.#out = out;
  }

  show(event: DownloadEvent): void {
    if (event.event === 'progress') this.#bar(event);
    else if (event.event === 'init') this.#totalBytes = event.total_size;
    else if (event.event === 'cached' || event.event === 'end') this.#doneBytes += event.size;
    const text = eventText(event);
    if (text === null) return;
    this.#out.endProgress();
    this.#out.line(text);
  }

  #bar({ file, downloaded, bytes_per_sec: rate }: Extract<DownloadEvent, { event: 'progress' }>): void {
    const bytes = this.#doneBytes + downloaded;
    const share = this.#totalBytes === 0 ? 1 : Math.min(1, bytes / this.#totalBytes);
    const bar = '#'.repeat(Math.round(share * BAR_CHARS)).padEnd(BAR_CHARS, '.');
    const left = rate > 0 ? time((this.#totalBytes - bytes) / rate) : '-:--';
    const text = `[${bar}] ${(share * 100).toFixed(1)} %  ${humanSize(bytes)} of ${humanSize(this.#totalBytes)}  ${humanSize(rate)}/s  ${left}  ${file}`;
    this.#out.progress(text);
  }
}

/** The line that an event leaves behind; null for those that leave none. */
function eventText(event: DownloadEvent): string | null {
  switch (event.event) {
    case 'init':
      return [
        `${event.repository}: ${event.file_count} file${event.file_count === 1 ? '' : 's'}, ${humanSize(event.total_size)}`,
        ...(event.licence === undefined ? [] : [`licence ${event.licence}`]),
      ].join(', ');
    case 'warning':
      return `note: ${event.message}`;
    case 'cached':
      return `${event.file} is there already`;
    case 'end':
      return `${event.file} ${humanSize(event.size)}`;
    case 'done':
      return `in ${event.local_dir}`;
    default:
      return null;
  }
}

/** Downloads a model, by a running daemon or in this process, and shows how far it is. What was interrupted goes on when run again. */
export const pull: Run = async ({ words: [name], daemon, out }) => {
  if (name === undefined) return recommend(out);
  if (BUILT_IN_MODELS.some((one) => one.name === name))
    return { result: { model: name }, show: () => out.line(`${name} comes with Quern`) };
  await interruptible((signal) => download(name, daemon, out, signal));
  return undefined;
};

/** The same for a model that is none of the built-in ones. What Ctrl+C stops is kept, and said so. */
export async function download(name: string, daemon: DaemonOptions, out: Output, signal: AbortSignal): Promise<void> {
  const cache = await openModelCache(daemon);
  const view = new ProgressView(out);
  let [hasBegun, isComplete] = [false, false];
  out.progress(`asking the hub for ${name} ...`);
  try {
    for await (const event of cache.download(name, signal)) {
      if (event.event === 'error') throw downloadFailure(event);
      hasBegun = true;
      isComplete ||= event.event === 'complete';
      out.value(event);
      view.show(event);
    }
  } finally {
    await cache.close();
    out.endProgress();
    if (signal.aborted && hasBegun && !isComplete) out.note(`stopped; what came is kept, and "quern pull ${name}" goes on from there`);
  }
  if (!isComplete) throw new Failure('unavailable', 'the download ended early; run the command again to go on.');
}

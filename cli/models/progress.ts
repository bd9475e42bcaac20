import { humanSize } from '../../runtime/base/files.js';
import type { DownloadEvent } from '../../runtime/models/fetch/events.js';
import type { Output } from '../output.js';

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
    const text = said(event);
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
function said(event: DownloadEvent): string | null {
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

import type { Events } from '../../events/events.js';
import { type Recording, SERVER_LOG } from '../../events/recording.js';
import type { DownloadEvent } from './events.js';
import type { DownloadPlan } from './plan.js';

/** Files of a download that its event names. */
const MAX_FILES = 100;

/** The event of one download as one client asked for it. Only its first end counts. */
export class DownloadRecord {
  readonly #recording: Recording;
  readonly #plan: DownloadPlan;
  #files = 0;

  constructor(events: Events, plan: DownloadPlan) {
    this.#recording = events.begin('download', SERVER_LOG);
    this.#plan = plan;
  }

  /** Takes note of what the client is told. */
  happened(event: DownloadEvent): void {
    if (event.event === 'done') this.#end();
    else if (event.event === 'error') this.#end(event.message);
    else if (event.event === 'end' || event.event === 'cached') {
      this.#files += 1;
      const name = event.event === 'end' ? 'file_downloaded' : 'file_cached';
      if (this.#files <= MAX_FILES) this.#recording.note(name, { file: event.file, size: event.size });
    }
  }

  /** The client reads no more. */
  left(): void {
    this.#end('The client left before the download was complete; it goes on for others, or when it is asked for again.');
  }

  #end(error?: string): void {
    const { name, repository, quantisation, commit, totalBytes, missingBytes, files } = this.#plan;
    const data = {
      repository,
      commit,
      quantization: quantisation,
      total_files: files.length,
      total_bytes: totalBytes,
      missing_bytes: missingBytes,
    };
    this.#recording.end({ model: name, data, ...(error === undefined ? {} : { error }) });
  }
}

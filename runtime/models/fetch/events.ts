/** What a download tells while it runs; the wire names of 3-core-wire 1.9. */
export type DownloadEvent =
  | { event: 'warning'; message: string }
  | {
      event: 'init';
      model_id: string;
      repository: string;
      quantization: string | null;
      selected_file: string;
      total_size: number;
      is_gguf: boolean;
      file_count: number;
      /** Of the weights, where it is known. */
      licence?: string;
    }
  | { event: 'start'; file: string; total: number }
  | {
      event: 'progress';
      file: string;
      downloaded: number;
      total: number;
      /** 0 to 100, one decimal. */
      percent: number;
      bytes_per_sec: number;
      /** Null while nothing comes. */
      eta_seconds: number | null;
      /** Set where nothing has changed since the last event. */
      keepalive?: true;
    }
  | { event: 'cached'; file: string; size: number }
  | { event: 'end'; file: string; size: number }
  | { event: 'done'; local_dir: string }
  | { event: 'complete'; model_name: string }
  | { event: 'error'; message: string; error: string; status: number };

/** A reader that lags by more than this misses progress, and nothing else. */
const LAG_LIMIT = 256;

/** The events of one download for one reader, kept until they are read. */
export class EventQueue implements AsyncIterable<DownloadEvent> {
  #waiting: DownloadEvent[] = [];
  #wake: (() => void) | undefined;
  #ended = false;

  add(event: DownloadEvent): void {
    if (event.event === 'progress' && this.#waiting.length >= LAG_LIMIT) return;
    this.#waiting.push(event);
    this.#wake?.();
  }

  /** What was added is still read. */
  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<DownloadEvent, void, undefined> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next) yield next;
      else if (this.#ended) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
    }
  }
}

import type { Circuit } from '../../hosts/circuit.js';
import type { Picture } from '../../pictures/picture.js';
import { HostClient } from '../host-client.js';
import type { EngineStatus } from '../loaded.js';
import type { OcrEngine, OcrFiles, OcrOpened, OcrPage, OcrReader } from './contract.js';

/** A page of fine print takes seconds; a host that takes longer is stuck. */
const READ_LIMIT_MS = 120_000;

/** An OCR engine in its host process, from the daemon's side. */
export class OcrClient implements OcrReader {
  readonly #client: HostClient<OcrOpened>;
  readonly status: EngineStatus;
  /** Images that the host may be given now. */
  #free: number;
  readonly #waiting: (() => void)[] = [];

  private constructor(client: HostClient<OcrOpened>, status: EngineStatus, atOnce: number) {
    this.#client = client;
    this.status = status;
    this.#free = atOnce;
  }

  /** Starts the engine on the files that it found. */
  static async load(engine: OcrEngine, files: OcrFiles, circuit: Circuit, stop: AbortSignal): Promise<OcrClient> {
    const parts = { name: `OCR engine ${engine.name}`, engine: engine.entry, circuit, body: files.body, callLimitMs: READ_LIMIT_MS };
    const { client, opened } = await HostClient.open<OcrOpened>(parts, stop);
    return new OcrClient(client, { devices: opened.devices, notes: [...files.notes, ...opened.notes] }, engine.atOnce);
  }

  get pid(): number | undefined {
    return this.#client.pid;
  }

  async read(picture: Picture, signal: AbortSignal): Promise<OcrPage> {
    await this.#turn(signal);
    try {
      return await this.#client.call<OcrPage>('read', picture, signal);
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }

  /** Waits in the daemon, so that the time limit of a call counts the reading alone. */
  #turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const start = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(start), 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(start);
    });
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}

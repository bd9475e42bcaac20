import type { CircuitBreaker } from '../../hosts/circuit-breaker.js';
import { HostClient } from '../../hosts/client.js';
import type { Picture } from '../../pictures/picture.js';
import { AskedEngine } from '../contracts/loaded.js';
import type { OcrEngine, OcrFiles, OcrOpened, OcrPage, OcrReader } from '../contracts/ocr.js';

/** A page of fine print takes seconds; a host that takes longer is stuck. */
const READ_LIMIT_MS = 120_000;

/** An OCR engine in its host process, from the daemon's side. */
export class OcrClient extends AskedEngine implements OcrReader {
  /** Starts the engine on the files that it found. */
  static async load(engine: OcrEngine, files: OcrFiles, circuit: CircuitBreaker, stop: AbortSignal): Promise<OcrClient> {
    const { name, entry, atOnce } = engine;
    const parts = { name: `OCR engine ${name}`, engine: entry, circuit, body: files.body, callLimitMs: READ_LIMIT_MS, atOnce };
    const { client, opened } = await HostClient.open<OcrOpened>(parts, stop);
    return new OcrClient(client, { devices: opened.devices, notes: [...files.notes, ...opened.notes] });
  }

  read(picture: Picture, signal: AbortSignal): Promise<OcrPage> {
    return this.client.call<OcrPage>('read', picture, signal);
  }
}

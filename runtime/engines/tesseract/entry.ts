import type { Worker } from 'tesseract.js';
import { Failure } from '../../../schemas/errors.js';
import type { OpenEngine } from '../../hosts/engine.js';
import { cleanedPng, decodePicture, encodePng } from '../../pictures/codec.js';
import type { Picture } from '../../pictures/picture.js';
import type { OcrOpened, OcrPage } from '../ocr/contract.js';
import type { TesseractBody } from './engine.js';
import { orderedReadings } from './readings.js';
import { withLanguages } from './trained.js';

/** `OEM.LSTM_ONLY`. */
const LSTM_ONLY = 1;
const OPENED: OcrOpened = { devices: { requested: 'auto', available: ['cpu'], used: ['cpu'], why: null }, notes: [] };

class Tesseract {
  #languages: TesseractBody['languages'] = [];
  #worker: Promise<Worker> | undefined;
  /** One image after the other: the worker has one memory. */
  #last: Promise<unknown> = Promise.resolve();

  async open({ languages }: TesseractBody): Promise<OcrOpened> {
    this.#languages = languages;
    await this.#ready();
    return OPENED;
  }

  read(picture: Picture, signal: AbortSignal): Promise<OcrPage> {
    const reading = this.#last.then(() => this.#read(picture, signal));
    this.#last = reading.catch(() => {});
    return reading;
  }

  async close(): Promise<void> {
    await (await this.#worker?.catch(() => undefined))?.terminate();
  }

  async #read(picture: Picture, signal: AbortSignal): Promise<OcrPage> {
    signal.throwIfAborted();
    const pixels = await decodePicture(picture);
    const worker = await this.#ready();
    // A recognition that runs cannot be stopped, and its promise never settles once the worker is gone.
    let onAbort!: () => void;
    const aborted = new Promise<never>((_resolve, reject) => {
      onAbort = () => {
        this.#worker = undefined;
        void worker.terminate();
        reject(signal.reason);
      };
      signal.addEventListener('abort', onAbort, { once: true });
    });
    try {
      return await Promise.race([
        orderedReadings(
          worker,
          () => encodePng(pixels, { quick: true }),
          () => cleanedPng(pixels),
        ),
        aborted,
      ]);
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  #ready(): Promise<Worker> {
    this.#worker ??= this.#start();
    this.#worker.catch(() => {
      this.#worker = undefined;
    });
    return this.#worker;
  }

  async #start(): Promise<Worker> {
    const { createWorker } = await import('tesseract.js');
    const codes = this.#languages.map(({ code }) => code);
    return withLanguages(this.#languages, (langPath) =>
      // Without a handler an error of the worker ends the process; the promises of its calls reject all the same.
      createWorker(codes, LSTM_ONLY, { langPath, gzip: false, cacheMethod: 'none', errorHandler: () => {} }),
    );
  }
}

/** Makes the engine of this process. */
export const openEngine: OpenEngine = () => {
  const tesseract = new Tesseract();
  return {
    call(method, body, signal) {
      if (method === 'open') return tesseract.open(body as TesseractBody);
      if (method === 'read') return tesseract.read(body as Picture, signal);
      throw new Failure('internal', `An OCR host has no method ${method}.`);
    },
    close: () => tesseract.close(),
  };
};

import { Failure } from '../../../../schemas/errors.js';
import type { OpenEngine } from '../../../hosts/protocol.js';
import type { Picture } from '../../../pictures/picture.js';
import type { NetworksBody } from './engine.js';
import { NetworksReader } from './reader.js';

/** Makes the engine of this process. */
export const openEngine: OpenEngine = () => {
  let reader: NetworksReader | undefined;
  let last: Promise<unknown> = Promise.resolve();
  return {
    async call(method, body, signal) {
      if (method === 'open') {
        reader = await NetworksReader.open(body as NetworksBody);
        return reader.opened;
      }
      if (method !== 'read' || !reader) throw new Failure('internal', `An OCR host has no method ${method}, or nothing is open.`);
      const opened = reader;
      // One image after the other: two at once would only hold two in memory.
      const reading = last.then(() => {
        signal.throwIfAborted();
        return opened.read(body as Picture, signal);
      });
      last = reading.catch(() => {});
      return reading;
    },
    close: () => {},
  };
};

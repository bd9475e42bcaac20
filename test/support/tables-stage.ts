import { Outbound } from '../../runtime/net/outbound.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { OpenServices } from '../../runtime/services/services.js';
import { openStore, type Store } from '../../runtime/store/store.js';
import { emptyDataDir } from './daemon.js';
import { openSomeServices } from './services.js';

/** Data buffers and streaming detectors on a store of their own, as the endpoints see them. */
export interface TablesStage {
  context(): Promise<Runtime>;
  /** Closes everything and opens it again; the context stays. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** See `TablesStage`. */
export function tablesStage(): TablesStage {
  const dataDir = emptyDataDir();
  const outbound = new Outbound();
  let store: Store;
  let opened: OpenServices;
  const open = async (): Promise<void> => {
    store = await openStore(dataDir);
    opened = openSomeServices({ store, outbound });
  };
  const end = async (): Promise<void> => {
    await opened.close();
    await store.close();
  };
  const context = {
    get here() {
      return opened.here;
    },
    get core() {
      return opened.core;
    },
  };
  return {
    context: async () => {
      await open();
      return context as unknown as Runtime;
    },
    restart: async () => {
      await end();
      await open();
    },
    close: async () => {
      await end();
      await outbound.close();
    },
  };
}

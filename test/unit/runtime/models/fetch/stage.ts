import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DownloadEvent } from '../../../../../runtime/models/fetch/download.js';
import { Hub } from '../../../../../runtime/models/fetch/hub.js';
import type { HubSettings } from '../../../../../runtime/models/fetch/settings.js';
import { Outbound } from '../../../../../runtime/net/outbound.js';
import { HubServer } from '../../../../support/hub-server.js';

/** A hub server, an empty cache and a client of both. */
export interface HubStage {
  readonly server: HubServer;
  readonly cache: string;
  /** A client with settings of its own; closed with the stage. */
  hub(settings?: Partial<HubSettings>): Hub;
  /** Downloads a model to its end and returns what was told. */
  pull(name: string, hub?: Hub, signal?: AbortSignal, told?: (event: DownloadEvent) => void): Promise<DownloadEvent[]>;
  close(): Promise<void>;
}

/** Bytes that differ everywhere, of any length. */
export function bytesOf(length: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(length);
  let state = seed;
  for (let at = 0; at < length; at++) {
    state = (state * 1103515245 + 12345) & 0x7fffffff;
    bytes[at] = state >> 16;
  }
  return bytes;
}

/** Sets a stage up. */
export async function hubStage(): Promise<HubStage> {
  const server = await HubServer.start();
  const cache = mkdtempSync(join(tmpdir(), 'quern-hub-'));
  const outbound = new Outbound();
  const hubs: Hub[] = [];
  const hub = (settings: Partial<HubSettings> = {}): Hub => {
    const made = new Hub(outbound, {
      endpoint: server.url,
      token: null,
      offline: false,
      cache,
      // A machine that is busy is no stall.
      stallMs: 60_000,
      connections: 3,
      pauseMs: 5,
      proxies: () => null,
      ...settings,
    });
    hubs.push(made);
    return made;
  };
  return {
    server,
    cache,
    hub,
    pull: async (name, given = hub(), signal = new AbortController().signal, told) => {
      const events: DownloadEvent[] = [];
      for await (const event of given.download(await given.plan(name, signal), signal)) {
        events.push(event);
        told?.(event);
      }
      return events;
    },
    close: async () => {
      for (const one of hubs) await one.close();
      await outbound.close();
      await server.close();
      rmSync(cache, { recursive: true, force: true });
    },
  };
}

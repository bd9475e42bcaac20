import type { CircuitBreaker } from '../../hosts/circuit-breaker.js';
import { HostClient } from '../../hosts/client.js';
import { defaultThreads } from '../../hosts/memory.js';
import { AskedEngine } from '../contracts/loaded.js';
import type { Phrase, Saying, Sound, VoiceFiles, VoiceModel, VoiceOpened } from '../contracts/speaking.js';
import type { VoiceEngineName } from './index.js';

const ENGINE = new URL('./entry.js', import.meta.url);
/** A phrase of half a minute on a slow machine. */
const CALL_LIMIT_MS = 120_000;

/** What `VoiceClient.load` needs. */
export interface VoiceLoad {
  readonly engine: VoiceEngineName;
  /** For messages. */
  readonly name: string;
  readonly files: Pick<VoiceFiles, 'folder' | 'graph'>;
  readonly device?: string;
  readonly notes?: readonly string[];
  readonly circuit: CircuitBreaker;
}

/** An engine that speaks, in its host process, from the daemon's side. Speakers take turns phrase by phrase. */
export class VoiceClient extends AskedEngine implements VoiceModel {
  /** Starts a host and opens the engine in it; throws what opening throws. */
  static async load({ engine, name, files: own, device, notes, circuit }: VoiceLoad, stop: AbortSignal): Promise<VoiceClient> {
    const files: VoiceFiles = { ...own, threads: defaultThreads(), device: device ?? 'auto' };
    const parts = { name: `voice ${name}`, engine: ENGINE, circuit, body: { name: engine, files }, callLimitMs: CALL_LIMIT_MS, atOnce: 1 };
    const { client, opened } = await HostClient.open<VoiceOpened>(parts, stop);
    return new VoiceClient(client, { devices: opened.devices, notes: notes ?? [] });
  }

  plan(text: string, voice: string, signal: AbortSignal): Promise<readonly Phrase[]> {
    return this.client.call<readonly Phrase[]>('plan', { text, voice }, signal);
  }

  say(saying: Saying, signal: AbortSignal): Promise<Sound> {
    return this.client.call<Sound>('say', saying, signal);
  }
}

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type DaemonUnderTest, startDaemon } from '../daemon.js';
import { puppetPath } from '../models/cache.js';
import { VoiceClient } from './client.js';
import { utterance } from './utterances.js';

const KIT = join(import.meta.dirname, '..', '..', '..', 'speech-kit');

/** The weights of the talks below. */
export const TALK_KIT = {
  folder: KIT,
  /** Why tests that need them are skipped; false where they are there. */
  missing: existsSync(join(KIT, 'models--Systran--faster-whisper-tiny.en'))
    ? false
    : 'build/speech-kit has no Whisper tiny.en: run node scripts/speech-kit.mjs',
} as const;

/** A daemon whose project `test/talk` talks: Whisper tiny.en hears, the puppet answers, flite speaks. */
export class TalkStage {
  daemon!: DaemonUnderTest;
  readonly #said = new Map<string, Int16Array>();

  /** Starts it, and has somebody say these texts. */
  async open(texts: readonly string[]): Promise<void> {
    this.daemon = await startDaemon({ env: { HF_HUB_CACHE: KIT } });
    await this.#send('POST', '/v1/projects/test', { name: 'talk', config_template: 'server' });
    const puppet = { name: 'puppet', provider: 'universal', model: puppetPath(), model_api_parameters: { temperature: 0 } };
    const config = { version: 'v1', name: 'talk', namespace: 'test', runtime: { models: [puppet] }, voice: { llm_model: 'puppet' } };
    await this.#send('PUT', '/v1/projects/test/talk', { config });
    for (const text of texts) this.#said.set(text, await utterance(this.daemon.runtime, text));
  }

  /** Waits until the models are loaded. */
  async warm(): Promise<void> {
    const client = await this.connect();
    const isLoaded = (): boolean =>
      ['tiny.en', 'flite', 'puppet'].every((name) => new RegExp(`loaded .*${name}`).test(this.daemon.output()));
    await client.until(isLoaded, 'the models', 240_000);
    await client.end();
  }

  async close(): Promise<void> {
    await this.daemon?.end('SIGKILL');
  }

  /** What somebody said, as PCM of 16 kHz. */
  said(text: string): Int16Array {
    return this.#said.get(text)!;
  }

  /** The address of a talk. */
  path(query = '?stt_model=tiny.en', voice = 'tts_model=flite&tts_voice=slt'): string {
    return `/v1/test/talk/voice/chat${query}&${voice}&timings=true`;
  }

  /** A talk that has begun. */
  async connect(query?: string, voice?: string): Promise<VoiceClient> {
    const client = new VoiceClient(this.daemon.core, this.path(query, voice));
    await client.state('idle');
    return client;
  }

  async #send(method: string, path: string, body: unknown): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(this.daemon.core + path, { method, headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  }
}

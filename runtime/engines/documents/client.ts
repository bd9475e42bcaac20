import { basename, isAbsolute } from 'node:path';
import type { CircuitBreaker } from '../../hosts/circuit-breaker.js';
import { HostClient } from '../../hosts/client.js';
import type { DocumentAnswer, DocumentFiles, DocumentModel, DocumentOpened, DocumentQuestion } from '../contracts/documents.js';
import { AskedEngine } from '../contracts/loaded.js';

const ENGINE = new URL('./entry.js', import.meta.url);
/** A page of a thousand tokens on a slow machine. */
const ASK_LIMIT_MS = 300_000;

/** A document model in its host process, from the daemon's side. */
export class DocumentClient extends AskedEngine implements DocumentModel {
  readonly needsWords: boolean;

  private constructor(client: HostClient<DocumentOpened>, { needsWords, devices, notes }: DocumentOpened, before: readonly string[]) {
    super(client, { devices, notes: [...before, ...notes] });
    this.needsWords = needsWords;
  }

  /** Starts a host and loads the model in it. */
  static async load(files: DocumentFiles, notes: readonly string[], circuit: CircuitBreaker, stop: AbortSignal): Promise<DocumentClient> {
    const name = `document model ${isAbsolute(files.name) ? basename(files.name) : files.name}`;
    const parts = { name, engine: ENGINE, circuit, body: files, callLimitMs: ASK_LIMIT_MS, atOnce: 1 };
    const { client, opened } = await HostClient.open<DocumentOpened>(parts, stop);
    return new DocumentClient(client, opened, notes);
  }

  ask(question: DocumentQuestion, signal: AbortSignal): Promise<DocumentAnswer> {
    return this.client.call<DocumentAnswer>('ask', question, signal);
  }
}

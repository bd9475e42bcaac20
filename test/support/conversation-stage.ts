import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { coreEndpoints } from '../../gateway/core/index.js';
import { dispatch } from '../../gateway/http/dispatch.js';
import type { Application } from '../../gateway/http/transport.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { Message } from '../../schemas/generated/core/conversations.js';
import { openedRuntime } from './compat-stage.js';
import { emptyDataDir } from './daemon.js';
import { writeProject } from './dataset-stage.js';
import { type Answer, RecordedExchange } from './exchange.js';
import { decidedPuppetPath } from './models/cache.js';

/** A project whose model is the puppet. */
export const PUPPET_PROJECT =
  'version: v1\nruntime: {models: [{name: m, provider: universal, model: puppet}]}\nprompts: [{name: a, messages: [{role: system, content: Be kind.}]}]\n';

/** A data directory with the project `ns/p`. */
export function conversationData(): string {
  const dataDir = emptyDataDir();
  mkdirSync(join(dataDir, 'models'), { recursive: true });
  copyFileSync(decidedPuppetPath(), join(dataDir, 'models', 'puppet.gguf'));
  writeProject(dataDir, 'ns', 'p', PUPPET_PROJECT);
  return dataDir;
}

/** What a request names beside the endpoint. */
export interface Named {
  readonly ids?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Calls endpoints of conversations by their ids. */
export class ConversationStage {
  readonly core: Application;

  constructor(readonly runtime: Runtime) {
    this.core = dispatch({ endpoints: coreEndpoints, context: runtime, access: { bindHost: '127.0.0.1' } });
  }

  static async open(dataDir = conversationData()): Promise<ConversationStage> {
    return new ConversationStage(await openedRuntime(dataDir));
  }

  /** A request that is under way. */
  begin(endpoint: string, { ids = {}, query = '', headers, body }: Named = {}): RecordedExchange {
    const { method, path } = coreEndpoints.find((one) => one.id === endpoint)!;
    const named: Readonly<Record<string, string>> = { namespace: 'ns', project: 'p', ...ids };
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, part: string) => named[part]!) + query;
    const exchange = new RecordedExchange({ method, path: filled, body, ...(headers ? { headers } : {}) });
    this.core.request(exchange);
    return exchange;
  }

  async ask(endpoint: string, named: Named = {}): Promise<Answer> {
    return this.begin(endpoint, named).done;
  }

  /** The JSON of an answer that must succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
  async json(endpoint: string, named: Named = {}): Promise<any> {
    const { status, text } = await this.ask(endpoint, named);
    if (status >= 300) throw new Error(`${endpoint}: ${status} ${text}`);
    return JSON.parse(text);
  }

  /** A new conversation's id. */
  async create(body: object = {}): Promise<string> {
    return (await this.json('conversation_create', { body })).conversation.id;
  }

  /** Asks, and resolves to the answer as it was stored. */
  async turn(id: string, body: object): Promise<Message> {
    const { status, text, events } = await this.ask('conversation_turn', { ids: { conversation_id: id }, body });
    if (status !== 200) throw new Error(`${status} ${text}`);
    return JSON.parse(events.at(-2)!) as Message;
  }

  /** All messages of a conversation. */
  async messages(id: string): Promise<Message[]> {
    return (await this.json('conversation_read', { ids: { conversation_id: id } })).messages;
  }

  close(): Promise<void> {
    return this.runtime.close();
  }
}

import { randomUUID } from 'node:crypto';
import type { Message } from '../../schemas/generated/common.js';
import { log } from '../base/log.js';
import type { AnswerMade, StateUse } from '../completions/request.js';
import type { LanguageModel } from '../engines/contracts/language.js';
import type { KvEntry } from './entry.js';
import type { Conversation, KvCache, KvValidation } from './kv-cache.js';

/** The `x_cache` of an answer. */
export interface CacheReport {
  hit: boolean;
  status: KvValidation['status'];
  cache_key: string | null;
  /** Prompt tokens that were not decoded again; 0 at a miss. */
  reused_tokens: number;
  new_cache_key: string | null;
  cached_tokens: number;
}

/** The use of the KV cache by one completion: restores a state before the prompt, and saves one after the answer. */
export class CachedTurn implements StateUse {
  readonly remember: string | undefined;
  readonly #cache: KvCache;
  readonly #conversation: Conversation;
  readonly #key: string | undefined;
  #status: KvValidation['status'] = 'miss';
  #reused = 0;
  #entry: KvEntry | undefined;
  #made: KvEntry | undefined;

  constructor(cache: KvCache, conversation: Conversation, options: { key?: string | undefined; save: boolean }) {
    this.#cache = cache;
    this.#conversation = conversation;
    this.#key = options.key;
    this.remember = options.save ? randomUUID() : undefined;
  }

  /** Never rejects: without its state a conversation is only slower. */
  async before(model: LanguageModel): Promise<void> {
    if (this.#key === undefined) return;
    try {
      const { status, entry } = await this.#cache.validate(this.#key, this.#conversation);
      if (entry && status !== 'miss' && model.states && (await this.#cache.restore(entry, model.states))) {
        this.#status = status;
        this.#entry = entry;
      }
    } catch (error) {
      log('warn', 'a saved KV state could not be restored', { error });
    }
    this.#cache.noteUse(this.#entry, this.#status);
  }

  /** Never rejects: the answer is made. */
  async after(model: LanguageModel, answer: AnswerMade): Promise<void> {
    this.#reused = this.#status === 'miss' ? 0 : answer.reusedTokens;
    if (this.remember === undefined || !model.states) return;
    const conversation = { ...this.#conversation, messages: [...this.#conversation.messages, messageOf(answer)] };
    try {
      const known = await this.#cache.find(conversation, model.states.tag);
      this.#made = known ?? (await this.#cache.save(conversation, model.states, this.remember));
    } catch (error) {
      log('warn', 'the KV state of an answer could not be saved', { error });
    }
  }

  /** What became of it; whole once the answer has ended. */
  report(): CacheReport {
    return {
      hit: this.#status === 'hit',
      status: this.#status,
      cache_key: this.#key ?? null,
      reused_tokens: this.#reused,
      new_cache_key: this.#made?.key ?? null,
      cached_tokens: (this.#made ?? this.#entry)?.tokens ?? 0,
    };
  }
}

function messageOf({ text, toolCalls }: AnswerMade): Message {
  if (toolCalls.length === 0) return { role: 'assistant', content: text };
  return { role: 'assistant', content: text.trim() === '' ? null : text, tool_calls: [...toolCalls] };
}

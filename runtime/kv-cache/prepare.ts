import { Failure, type FailureKind } from '../../schemas/errors.js';
import { log } from '../base/log.js';
import type { CompletionSource, UniversalRequest } from '../completions/request.js';
import type { LanguageModel } from '../engines/contracts/language.js';
import { flat, type KvEntry } from './entry.js';
import type { Conversation, KeepOptions, KvCache } from './kv-cache.js';

/** What one preparation may hold. */
const PREPARE_LIMITS = { messages: 200, tools: 128, characters: 200_000 } as const;

/** Characters of a token, where nothing counts them. */
const CHARS_PER_TOKEN = 4;
/** What the client can mend, such as a cache full of pinned entries; a model that does not load is not. */
const REFUSED: ReadonlySet<FailureKind> = new Set(['bad_request', 'invalid', 'too_large']);

/** A conversation to be kept before anybody asks for an answer. */
export interface Preparation extends Conversation, KeepOptions {
  /** Decode the prompt now; otherwise the index alone is made. */
  readonly warm: boolean;
}

/** Characters as people count them; those beyond 16 bits are one each. */
function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

/** Of the text of the messages, and of each tool and call as the JSON that a template shows. */
function characters({ messages, tools }: Conversation): number {
  const shown = [...(tools ?? []), ...messages.flatMap(({ tool_calls: calls }) => calls ?? [])];
  const texts = [...messages.map(({ content }) => flat(content)), ...shown.map((one) => JSON.stringify(one))];
  return texts.reduce((sum, text) => sum + lengthOf(text), 0);
}

/** Throws `bad_request` naming the limit that is passed. */
function checkSize(conversation: Conversation): void {
  const counts = {
    messages: conversation.messages.length,
    tools: conversation.tools?.length ?? 0,
    characters: characters(conversation),
  };
  for (const name of ['messages', 'tools', 'characters'] as const) {
    if (counts[name] <= PREPARE_LIMITS[name]) continue;
    throw new Failure('bad_request', `The conversation has ${counts[name]} ${name}; at most ${PREPARE_LIMITS[name]} can be prepared.`);
  }
}

/** Keeps the state of a whole prompt: an answer of one token is generated and thrown away. */
async function warmUp(cache: KvCache, source: CompletionSource, wanted: Preparation, signal: AbortSignal): Promise<KvEntry | undefined> {
  const { model, messages, tools, pinned, ttlS } = wanted;
  const keep = { ...(pinned === undefined ? {} : { pinned }), ...(ttlS === undefined ? {} : { ttlS }) };
  let made: KvEntry | undefined;
  let failed: unknown;
  const remember = crypto.randomUUID();
  const request: UniversalRequest = {
    model,
    messages: [...messages],
    ...(tools && tools.length > 0 ? { tools: [...tools] } : {}),
    options: {},
    autoTruncate: false,
    temperature: 0,
    max_tokens: 1,
    states: {
      remember,
      before: async () => {},
      after: async ({ states }: LanguageModel) => {
        try {
          if (states) made = (await cache.find(wanted, states.tag, keep)) ?? (await cache.save(wanted, states, remember, keep));
        } catch (error) {
          failed = error;
        }
      },
    },
  };
  const { parts } = await source.open(request, signal);
  for await (const _ of parts);
  if (failed !== undefined) throw failed;
  return made;
}

/**
 * Keeps a conversation: decoded and saved, or the index alone where that is asked for or the model does not load. Throws `bad_request` for one
 * that is too large, and `too_large` where pinned entries leave no room.
 */
export async function prepareConversation(
  cache: KvCache,
  source: CompletionSource,
  wanted: Preparation,
  signal: AbortSignal,
): Promise<KvEntry> {
  checkSize(wanted);
  if (wanted.warm) {
    try {
      const made = await warmUp(cache, source, wanted, signal);
      if (made) return made;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Failure && REFUSED.has(error.kind)) throw error;
      log('warn', `the conversation could not be decoded by ${wanted.model}; it is kept in the index alone`, { error });
    }
  }
  const tokens = Math.ceil(characters(wanted) / CHARS_PER_TOKEN);
  return (await cache.find(wanted, null, wanted)) ?? cache.index(wanted, tokens, wanted);
}

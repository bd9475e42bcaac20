import type { Options } from '../../schemas/generated/universal/ollama.js';

/** A model that a client made of another one: a name with settings. */
export interface NamedModelRecord {
  /** The model of this machine that it is made of, never another of these. */
  readonly from: string;
  readonly system?: string;
  /** Jinja text, a file or a known name, as `chat_template` takes it. */
  readonly template?: string;
  /** As it was given, where that was in another language. */
  readonly givenTemplate?: string;
  /** Paths or names of its LoRA adapters, at most 8. */
  readonly adapters?: readonly string[];
  /** By Ollama's names. */
  readonly parameters: Options;
  /** Come before those of each chat. */
  readonly messages: readonly { readonly role: 'system' | 'user' | 'assistant'; readonly content: string }[];
  readonly license: readonly string[];
  /** Milliseconds since 1970 of its creation or last change. */
  readonly atMs: number;
}

/** An answer of the responses API, with what it was asked. */
export interface StoredResponse {
  /** As it was sent. */
  readonly response: Readonly<Record<string, unknown>>;
  /** Items of this turn alone, each with an id. */
  readonly input: readonly Readonly<Record<string, unknown>>[];
  readonly output: readonly Readonly<Record<string, unknown>>[];
  /** The response that it went on from. */
  readonly previous?: string;
}

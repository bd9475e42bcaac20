import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../../schemas/errors.js';
import type { McpServer } from '../../schemas/generated/config/project.js';
import { withoutTextSecrets } from '../../schemas/secrets.js';
import { log } from '../base/log.js';
import { orAborted } from '../base/loop.js';
import { Connection, type ConnectionEvents, type ConnectionParts, SESSION_GONE } from './connection.js';
import type { ServerTool } from './contract.js';
import { listedTools } from './tools.js';

/**
 * `off`: nobody has asked for it, or it may not run. `starting`: its process or connection is being made. `ready`: it takes calls. `restarting`:
 * it was lost or did not start, and is tried again after a pause. `failed`: it is not tried again by itself.
 */
export type ServerState = 'off' | 'starting' | 'ready' | 'restarting' | 'failed';

/** Pauses before a lost server is tried again, in milliseconds; after the last of them it has failed. */
const PAUSES_MS = [500, 2_000, 5_000, 15_000, 60_000];
/** A server that was ready for so long has its pauses again. */
const PROVEN_MS = 60_000;
/** A failed server is tried again when it is asked for after so long. */
const FAILED_MS = 300_000;
/** A server that nobody has asked for so long is ended. */
const IDLE_MS = 30 * 60_000;
/** Tools are listed again when they are this old; servers tell of changes, and some forget to. */
const TOOLS_MS = 300_000;

/** What a server is at a moment. */
interface ServerView {
  readonly state: ServerState;
  /** Why it is in this state, in a sentence about the server; absent where there is nothing to say. */
  readonly reason?: string;
  /** Milliseconds since 1970. */
  readonly sinceMs: number;
  readonly tools: readonly ServerTool[];
  /** What of its tools cannot be offered. */
  readonly notes: readonly string[];
  readonly protocol?: string;
}

/** One configured server: it is started when somebody asks for it, started again when it is lost, and ended when nobody asks for long. */
export class ToolServer {
  readonly #config: McpServer;
  readonly #directory: string;
  readonly #parts: ConnectionParts;
  #state: ServerState = 'off';
  #reason: string | undefined;
  #sinceMs = Date.now();
  #connection: Connection | undefined;
  #tools: readonly ServerTool[] = [];
  #notes: readonly string[] = [];
  #listedMs = 0;
  #tries = 0;
  /** The attempt under way, its pause included. */
  #attempt: Promise<void> | undefined;
  #stop = new AbortController();
  #idle: NodeJS.Timeout | undefined;
  #isEnded = false;

  /** `directory`: where its process runs. */
  constructor(config: McpServer, directory: string, parts: ConnectionParts) {
    this.#config = config;
    this.#directory = directory;
    this.#parts = parts;
  }

  get view(): ServerView {
    const protocol = this.#connection?.protocol;
    return {
      state: this.#state,
      sinceMs: this.#sinceMs,
      tools: this.#tools,
      notes: this.#notes,
      ...(this.#reason === undefined ? {} : { reason: this.#reason }),
      ...(protocol === undefined ? {} : { protocol }),
    };
  }

  /** Its connection when it is ready within `waitMs`, started where it is not; else undefined, and `view` says why. Rejects with the reason of the signal. */
  async ready(waitMs: number, signal: AbortSignal): Promise<Connection | undefined> {
    signal.throwIfAborted();
    if (this.#isEnded) return undefined;
    this.#use();
    if (this.#connection) {
      if (performance.now() - this.#listedMs > TOOLS_MS) void this.#list(this.#connection);
      return this.#connection;
    }
    if (this.#state === 'failed' && Date.now() - this.#sinceMs < FAILED_MS) return undefined;
    if (this.#state === 'failed') this.#tries = 0;
    this.#attempt ??= this.#start(0);
    const late = new AbortController();
    await orAborted(Promise.race([this.#attempt, delay(waitMs, undefined, { signal: late.signal })]), signal).finally(() => late.abort());
    return this.#connection;
  }

  /** Ends it and starts it again, without a pause. */
  async restart(): Promise<void> {
    await this.close();
    this.#use();
    this.#attempt = this.#start(0);
  }

  /** Ends it; what is under way there fails. It may be asked for again. */
  async close(reason?: string): Promise<void> {
    this.#stop.abort();
    this.#stop = new AbortController();
    clearTimeout(this.#idle);
    const connection = this.#connection;
    const attempt = this.#attempt;
    this.#connection = undefined;
    this.#attempt = undefined;
    this.#tries = 0;
    this.#turn('off', reason);
    await connection?.close();
    await attempt;
  }

  /** Ends it for good, for one that its project has no more or has otherwise: turns that still hold it cannot start it again. */
  end(): Promise<void> {
    this.#isEnded = true;
    return this.close('is not in the project any more, or has other settings by now');
  }

  #use(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => void this.close('is not used: it starts when a chat asks for it'), IDLE_MS).unref();
  }

  #turn(state: ServerState, reason?: string): void {
    this.#state = state;
    // Servers repeat what they were given, such as a key.
    this.#reason = reason === undefined ? undefined : withoutTextSecrets(reason).replace(/\.$/, '');
    this.#sinceMs = Date.now();
  }

  /** Starts it after a pause. Never rejects: the state says what came of it. */
  async #start(pauseMs: number): Promise<void> {
    const { signal } = this.#stop;
    try {
      if (pauseMs > 0) await delay(pauseMs, undefined, { signal, ref: false });
      if (pauseMs === 0) this.#turn('starting');
      const connection = await this.#connect(signal);
      if (signal.aborted) return await connection.close();
      connection.throwIfLost();
      this.#connection = connection;
      this.#attempt = undefined;
      this.#turn('ready');
    } catch (error) {
      if (!signal.aborted) this.#lost(error);
    }
  }

  async #connect(signal: AbortSignal): Promise<Connection> {
    let made: Connection | undefined;
    const events: ConnectionEvents = {
      toolsChanged: () => void (made && this.#list(made)),
      lost: (failure) => {
        // One that is lost before it is ready fails its start.
        if (!signal.aborted && made && this.#connection === made) this.#lost(failure);
      },
    };
    const connection = await Connection.open(this.#config, this.#directory, this.#parts, events, signal);
    made = connection;
    try {
      // A server that comes while it is being closed is greeted no further.
      if (!signal.aborted) this.#takeTools(await connection.tools());
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  #lost(error: unknown): void {
    const reason = error instanceof Failure ? error.message : 'could not be started';
    if (!(error instanceof Failure)) log('error', `tool server ${this.#config.name} could not be started`, { cause: error });
    if (this.#state === 'ready' && Date.now() - this.#sinceMs > PROVEN_MS) this.#tries = 0;
    this.#connection = undefined;
    // A server that has forgotten its session is there.
    const isForgotten = this.#state === 'ready' && error instanceof Failure && error.code === SESSION_GONE;
    const pauseMs = isForgotten ? 0 : PAUSES_MS[this.#tries];
    const isFinal = pauseMs === undefined || isHopeless(error);
    this.#turn(isFinal ? 'failed' : 'restarting', reason);
    log('warn', `tool server ${this.#config.name} ${this.#reason}`, { state: this.#state });
    if (!isForgotten) this.#tries += 1;
    this.#attempt = isFinal ? undefined : this.#start(pauseMs);
  }

  async #list(connection: Connection): Promise<void> {
    this.#listedMs = performance.now();
    try {
      const tools = await connection.tools();
      if (this.#connection === connection) this.#takeTools(tools);
    } catch (error) {
      if (this.#connection === connection)
        log('warn', `the tools of server ${this.#config.name} could not be listed again`, { cause: error });
    }
  }

  #takeTools(tools: Parameters<typeof listedTools>[0]): void {
    const { listed, notes } = listedTools(tools, this.#config);
    this.#tools = listed;
    this.#notes = notes;
    this.#listedMs = performance.now();
  }
}

/** Whether the settings of a server are at fault, so that trying again is no use. */
function isHopeless(error: unknown): boolean {
  return error instanceof Failure && (error.kind === 'bad_request' || error.code === 'CommandNotFound');
}

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** One thing that the server does with an answer, in order. */
export type Step =
  | { readonly send: string | Uint8Array }
  | { readonly waitMs: number }
  /** Runs when the steps before it have been written. */
  | { readonly call: () => void | Promise<void> }
  /** Sends nothing more until the client is gone. */
  | 'hang'
  /** Sends the same frame until the client is gone. */
  | { readonly endless: string }
  /** Breaks the connection without an end. */
  | 'reset';

/** How one request is answered. */
export interface Scene {
  /** 200 unless given. */
  readonly status?: number;
  /** `content-type` is `text/event-stream` unless given here. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Holds even the headers back. */
  readonly silent?: boolean;
  readonly steps: readonly Step[];
  /** Cuts what is sent into writes of this many bytes. */
  readonly cutBytes?: number;
}

/** A request as the server saw it. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** The parsed JSON body, or the text. */
  readonly body: unknown;
  /** Resolves when the answer has ended or the client is gone; `true` when it was complete. */
  readonly over: Promise<boolean>;
}

/** A JSON answer as a scene. */
export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Scene {
  return { status, headers: { 'content-type': 'application/json', ...headers }, steps: [{ send: JSON.stringify(value) }] };
}

/** Frames of an event stream: each value as `data:`, strings as they are. */
export function frames(...values: unknown[]): Step[] {
  return values.map((value) => ({ send: `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n` }));
}

/** A chunk with this delta. */
export function delta(members: Record<string, unknown>, finish: string | null = null): Record<string, unknown> {
  return { id: 'c', object: 'chat.completion.chunk', model: 'scripted', choices: [{ index: 0, delta: members, finish_reason: finish }] };
}

/** The chunk that holds only usage. */
export function usage(prompt: number, completion: number): Record<string, unknown> {
  return {
    id: 'c',
    object: 'chat.completion.chunk',
    choices: [],
    usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
  };
}

/** A plain streamed answer of these texts, with usage and `[DONE]`. */
export function say(...texts: string[]): Scene {
  const deltas = texts.map((content) => delta({ content }));
  return { steps: frames(delta({ role: 'assistant', content: '' }), ...deltas, delta({}, 'stop'), usage(7, texts.length), '[DONE]') };
}

/** A server over real sockets that plays a chat host: it answers as scripted and remembers what it was asked. */
export class ScriptedOpenAI {
  readonly seen: Seen[] = [];
  readonly #queue: Scene[] = [];
  readonly #routes = new Map<string, Scene>();
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #fallback: ((seen: Seen) => Scene) | undefined;
  #active = 0;
  #opened = 0;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      this.#opened++;
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => {});
    });
  }

  /** Listens on 127.0.0.1, on any free port unless one is given. */
  static async start(port = 0, host = '127.0.0.1'): Promise<ScriptedOpenAI> {
    const scripted = new ScriptedOpenAI();
    scripted.#server.listen(port, host);
    await once(scripted.#server, 'listening');
    return scripted;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The base URL of the chat API. */
  get base(): string {
    return `${this.origin}/v1`;
  }

  /** Answers under way. */
  get active(): number {
    return this.#active;
  }

  /** Connections that were opened so far. */
  get opened(): number {
    return this.#opened;
  }

  /** The next requests are answered with these scenes, in order. */
  script(...scenes: Scene[]): this {
    this.#queue.push(...scenes);
    return this;
  }

  /** Requests beyond the script get this. */
  always(scene: Scene | ((seen: Seen) => Scene)): this {
    this.#fallback = typeof scene === 'function' ? scene : () => scene;
    return this;
  }

  /** Requests of this path get this, whatever the script says. */
  route(path: string, scene: Scene): this {
    this.#routes.set(path, scene);
    return this;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const text = Buffer.concat(pieces).toString('utf8');
    let body: unknown = text;
    try {
      body = JSON.parse(text);
    } catch {
      // Kept as text.
    }
    this.#active++;
    const over = new Promise<boolean>((resolve) => {
      response.on('close', () => {
        this.#active--;
        resolve(response.writableFinished);
      });
    });
    const seen: Seen = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body, over };
    this.seen.push(seen);
    const missing = json({ error: { message: 'nothing is scripted for this request' } }, 418);
    await this.#play(this.#routes.get(seen.path) ?? this.#queue.shift() ?? this.#fallback?.(seen) ?? missing, response);
  }

  async #play(scene: Scene, response: ServerResponse): Promise<void> {
    if (!scene.silent) {
      response.writeHead(scene.status ?? 200, { 'content-type': 'text/event-stream', ...scene.headers });
      response.flushHeaders();
    }
    for (const step of scene.steps) {
      if (response.destroyed) return;
      if (step === 'hang') return;
      if (step === 'reset') {
        response.socket?.resetAndDestroy();
        return;
      }
      if ('waitMs' in step) await sleep(step.waitMs);
      else if ('call' in step) await step.call();
      else if ('endless' in step) return endless(response, step.endless);
      else await send(response, Buffer.from(step.send as string), scene.cutBytes);
    }
    response.end();
  }
}

async function send(response: ServerResponse, bytes: Buffer, cutBytes = bytes.byteLength): Promise<void> {
  for (let at = 0; at < bytes.byteLength && !response.destroyed; at += cutBytes) {
    await new Promise((resolve) => response.write(bytes.subarray(at, at + cutBytes), resolve));
    // A write of its own reaches the client as a piece of its own.
    if (cutBytes < bytes.byteLength) await new Promise(setImmediate);
  }
}

async function endless(response: ServerResponse, frame: string): Promise<void> {
  while (!response.destroyed) {
    response.write(frame);
    await sleep(1);
  }
}

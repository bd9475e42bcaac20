/** The response object of uWebSockets.js, as far as it is used here. Invalid after an abort and after `end`. */
export interface UwsResponse {
  writeStatus(status: string): UwsResponse;
  writeHeader(name: string, value: string): UwsResponse;
  /** False when part of it had to be buffered. */
  write(chunk: string | Uint8Array): boolean;
  end(body?: string | Uint8Array, closeConnection?: boolean): UwsResponse;
  endWithoutBody(reportedLength?: number, closeConnection?: boolean): UwsResponse;
  /** Returns whether all was taken and whether the response is complete; keeps nothing that was not taken. */
  tryEnd(body: Uint8Array, totalSize: number): [boolean, boolean];
  getWriteOffset(): number;
  onWritable(callback: (offset: number) => boolean): UwsResponse;
  onAborted(callback: () => void): UwsResponse;
  /** The chunk is only valid inside the callback. */
  onData(callback: (chunk: ArrayBuffer, isLast: boolean) => void): UwsResponse;
  getRemoteAddressAsText(): ArrayBuffer;
  /** Stops and continues the delivery of the body. */
  pause(): void;
  resume(): void;
  cork(callback: () => void): UwsResponse;
  close(): UwsResponse;
  upgrade<State>(state: State, key: string, protocol: string, extensions: string, context: unknown): void;
}

/** The request object of uWebSockets.js; valid only until its handler returns. */
export interface UwsRequest {
  getHeader(lowerCaseName: string): string;
  getUrl(): string;
  getQuery(): string;
  /** Lower case. */
  getMethod(): string;
  forEach(callback: (name: string, value: string) => void): void;
}

/** One WebSocket of uWebSockets.js; invalid after its close callback. */
export interface UwsSocket<State> {
  getUserData(): State;
  /** 0: buffered, 1: sent, 2: dropped for being over the limit. */
  send(message: string | Uint8Array, isBinary: boolean): number;
  getBufferedAmount(): number;
  end(code: number, reason: string): void;
  close(): void;
}

/** Options and callbacks of a WebSocket route. */
export interface UwsSocketBehavior<State> {
  compression: number;
  maxPayloadLength: number;
  maxBackpressure: number;
  closeOnBackpressureLimit: boolean;
  /** In seconds; with automatic pings a ping leaves 16 s before. */
  idleTimeout: number;
  sendPingsAutomatically: boolean;
  upgrade(response: UwsResponse, request: UwsRequest, context: unknown): void;
  open(socket: UwsSocket<State>): void;
  message(socket: UwsSocket<State>, message: ArrayBuffer, isBinary: boolean): void;
  close(socket: UwsSocket<State>, code: number): void;
}

/** One application of uWebSockets.js. */
export interface UwsApp {
  get(pattern: string, handler: (response: UwsResponse, request: UwsRequest) => void): UwsApp;
  any(pattern: string, handler: (response: UwsResponse, request: UwsRequest) => void): UwsApp;
  ws<State>(pattern: string, behavior: UwsSocketBehavior<State>): UwsApp;
  /** Called with 1 for each new connection and -1 for each that ends. */
  filter(callback: (response: UwsResponse, count: number) => void): UwsApp;
  /** Serves a connection that somebody else has accepted, given by its descriptor, which belongs to the library from then on. */
  adoptSocket(descriptor: number): void;
  listen(host: string, port: number, options: number, callback: (token: unknown) => void): UwsApp;
  /** Ends the listening socket and every connection. */
  close(): UwsApp;
}

/** The module. */
export interface UwsModule {
  App(): UwsApp;
  us_listen_socket_close(token: unknown): void;
  us_socket_local_port(token: unknown): number;
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  readonly DISABLED: number;
}

import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP server whose address is known before what answers there: accounts are told their own address when they are made. */
export class LateServer {
  /** Its address without a path. */
  readonly url: string;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(): Promise<LateServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new LateServer(server);
  }

  /** Has requests answered from now on. */
  serve(handler: RequestListener): void {
    this.#server.on('request', handler);
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

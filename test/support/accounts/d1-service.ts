import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Client, createClient, type InArgs, type ResultSet } from '@libsql/client';

type Statement = { sql: string; params?: unknown[] };
/** What the service answers: a status, an envelope, headers. */
interface Envelope {
  readonly status: number;
  readonly body: object | string;
  readonly headers?: Record<string, string>;
}

/**
 * The query interface of D1 as its documents describe it, on a SQLite of its own: one statement or a batch that is one step, in the
 * service's envelope. It is not the service: what that does beyond its documents is not here.
 */
export class D1Service {
  readonly token = 'a token that may edit one database';
  /** Questions by their statements, in order. */
  readonly asked: string[] = [];
  /** Taken one by one instead of running a question. */
  readonly refusals: Envelope[] = [];
  readonly #client: Client = createClient({ url: ':memory:' });
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request).then(
        ({ status, body, headers = {} }) => {
          const text = typeof body === 'string' ? body : JSON.stringify(body);
          response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
        },
        () => response.destroy(),
      );
    });
  }

  static async start(): Promise<D1Service> {
    const service = new D1Service();
    await service.#client.execute('pragma foreign_keys = on');
    await new Promise<void>((resolve) => service.#server.listen(0, '127.0.0.1', resolve));
    return service;
  }

  /** What the module file says of it. */
  get fields(): { adapter: 'd1'; url: string; token: string } {
    const { port } = this.#server.address() as AddressInfo;
    return { adapter: 'd1', url: `http://127.0.0.1:${port}/client/v4/accounts/an-account/d1/database/a-database`, token: this.token };
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
    this.#client.close();
  }

  async #answer(request: IncomingMessage): Promise<Envelope> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const refused = (status: number, code: number, message: string): Envelope => ({
      status,
      body: { success: false, errors: [{ code, message }], messages: [], result: [] },
    });
    if (request.headers.authorization !== `Bearer ${this.token}`) return refused(401, 10000, 'Authentication error');
    if (request.method !== 'POST' || request.url !== '/client/v4/accounts/an-account/d1/database/a-database/query')
      return refused(404, 7404, 'The database a-database could not be found');
    const refusal = this.refusals.shift();
    if (refusal) return refusal;
    const question = JSON.parse(Buffer.concat(pieces).toString()) as Statement & { batch?: Statement[] };
    const statements = question.batch ?? [question];
    this.asked.push(statements.map(({ sql }) => sql).join('; '));
    const tooMany = statements.find(({ params = [] }) => params.length > 100);
    if (tooMany) return refused(400, 7500, 'too many SQL variables at offset 0: SQLITE_ERROR');
    try {
      const results = await this.#client.batch(
        statements.map(({ sql, params = [] }) => ({ sql, args: params as InArgs })),
        'write',
      );
      return { status: 200, body: { success: true, errors: [], messages: [], result: results.map(told) } };
    } catch (error) {
      const [, message = String(error)] = /^SQLITE_\w+: (?:SQLite error: )?(.*)$/.exec((error as Error).message) ?? [];
      return refused(400, 7500, `${message}: ${(error as { code?: string }).code ?? 'SQLITE_ERROR'}`);
    }
  }
}

function told({ columns, rows, rowsAffected, lastInsertRowid }: ResultSet): object {
  return {
    success: true,
    results: rows.map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]]))),
    meta: {
      served_by: 'a-test',
      duration: 0.1,
      changes: rowsAffected,
      last_row_id: Number(lastInsertRowid ?? 0),
      changed_db: rowsAffected > 0,
      size_after: 8192,
      rows_read: rows.length,
      rows_written: rowsAffected,
    },
  };
}

import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Point {
  id: string;
  vector: number[];
  payload: Record<string, unknown>;
}

interface Condition {
  key?: string;
  match?: { value?: unknown; text?: string };
  range?: Record<'gt' | 'gte' | 'lt' | 'lte', number>;
  should?: Condition[];
}

interface Body {
  vectors: { size: number; distance: string };
  points: (Point & string)[];
  ids: string[];
  filter?: { must?: Condition[]; must_not?: Condition[] };
  query: number[];
  limit: number;
  offset: string | null;
  with_payload: boolean | string[];
  with_vector: boolean;
}

interface Collection {
  size: number;
  distance: string;
  points: Map<string, Point>;
}

function valuesAt(payload: Record<string, unknown>, key: string): unknown[] {
  let found: unknown = payload;
  for (const name of key.split('.')) found = (found as Record<string, unknown> | undefined)?.[name];
  return found === undefined ? [] : [found].flat();
}

/** As an index of type text with the tokenizer `prefix` finds. */
function beginsSo(value: unknown, beginning: string): boolean {
  return String(value)
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .some((word) => word.startsWith(beginning));
}

function holds(condition: Condition, payload: Record<string, unknown>): boolean {
  if (condition.should) return condition.should.some((one) => holds(one, payload));
  return valuesAt(payload, condition.key!).some((value) => {
    if (condition.match?.text !== undefined) return beginsSo(value, condition.match.text);
    if (condition.match) return value === condition.match.value;
    const { gt, gte, lt, lte } = condition.range!;
    if (typeof value !== 'number') return false;
    return (
      (gt === undefined || value > gt) &&
      (gte === undefined || value >= gte) &&
      (lt === undefined || value < lt) &&
      (lte === undefined || value <= lte)
    );
  });
}

function scored({ distance }: Collection, a: readonly number[], b: readonly number[]): number {
  const dot = (x: readonly number[], y: readonly number[]): number => x.reduce((sum, value, i) => sum + value * y[i]!, 0);
  if (distance === 'Dot') return dot(a, b);
  if (distance === 'Euclid') return Math.sqrt(a.reduce((sum, value, i) => sum + (value - b[i]!) ** 2, 0));
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

/** The part of Qdrant's REST API that our store uses, in memory, as its OpenAPI document describes it. */
export class ScriptedQdrant {
  readonly #collections = new Map<string, Collection>();
  readonly #server: Server;
  /** Method, path and `api-key` of each request. */
  readonly requests: [method: string, path: string, key: string | undefined][] = [];
  /** Statuses that the next requests get instead of an answer; undefined lets one through. */
  readonly refusals: (number | undefined)[] = [];

  private constructor() {
    this.#server = createServer(async (request, response) => {
      const path = request.url!.split('?')[0]!;
      this.requests.push([request.method!, path, request.headers['api-key'] as string | undefined]);
      const body = await read(request);
      const refused = this.refusals.shift();
      const [status, result] = refused === undefined ? this.#answer(request.method!, path, body) : [refused, undefined];
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify(status < 300 ? { result, status: 'ok', time: 0 } : { status: { error: `refused with ${status}` }, time: 0 }),
      );
    });
  }

  static async start(): Promise<ScriptedQdrant> {
    const qdrant = new ScriptedQdrant();
    await new Promise<void>((resolve) => qdrant.#server.listen(0, '127.0.0.1', resolve));
    return qdrant;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #answer(method: string, path: string, body: Body): [status: number, result: unknown] {
    const [, , name, ...action] = path.split('/');
    if (name === undefined) return [200, { collections: [] }];
    const route = `${method} ${action.join('/')}`;
    if (route === 'PUT ') {
      this.#collections.set(name, { ...body.vectors, points: new Map() });
      return [200, true];
    }
    const collection = this.#collections.get(name);
    if (collection === undefined) return [404, undefined];
    if (route === 'DELETE ') return [200, this.#collections.delete(name)];
    return answer(collection, route, body);
  }
}

function answer(collection: Collection, route: string, body: Body): [status: number, result: unknown] {
  const { points } = collection;
  const passing = [...points.values()]
    .filter(({ payload }) => (body?.filter?.must ?? []).every((one) => holds(one, payload)))
    .filter(({ payload }) => !(body?.filter?.must_not ?? []).some((one) => holds(one, payload)))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  const shown = ({ id, vector, payload }: Point) => ({ id, ...(body.with_payload && { payload }), ...(body.with_vector && { vector }) });
  switch (route) {
    case 'GET ':
      return [200, { config: { params: { vectors: { size: collection.size, distance: collection.distance } } } }];
    case 'PUT index':
      return [200, { status: 'completed' }];
    case 'PUT points':
      if (
        body.points.some(({ vector, id }) => vector.length !== collection.size || !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id))
      )
        return [400, undefined];
      for (const point of body.points) points.set(point.id, point);
      return [200, { status: 'completed' }];
    case 'POST points':
      return [200, body.ids.flatMap((id) => (points.has(id) ? [shown(points.get(id)!)] : []))];
    case 'POST points/delete':
      for (const id of body.points ?? passing.map((point) => point.id)) points.delete(id);
      return [200, { status: 'completed' }];
    case 'POST points/count':
      return [200, { count: passing.length }];
    case 'POST points/scroll': {
      const from = body.offset === null ? 0 : passing.findIndex(({ id }) => id === body.offset);
      return [200, { points: passing.slice(from, from + body.limit).map(shown), next_page_offset: passing[from + body.limit]?.id ?? null }];
    }
    case 'POST points/query': {
      const hits = passing.map((point) => ({ ...shown(point), score: scored(collection, point.vector, body.query) }));
      hits.sort((a, b) => (collection.distance === 'Euclid' ? a.score - b.score : b.score - a.score));
      return [200, { points: hits.slice(0, body.limit) }];
    }
    default:
      return [405, undefined];
  }
}

async function read(request: IncomingMessage): Promise<Body> {
  let text = '';
  for await (const piece of request.setEncoding('utf8')) text += piece as string;
  return JSON.parse(text === '' ? '{}' : text) as Body;
}

import type { PiecesReply } from '../../schemas/endpoint.js';
import { type Call, safeValue } from './call.js';
import { failureOf, logFailure } from './errors.js';
import type { OpenBody, SizedBody } from './transport.js';

/**
 * Sends a long answer piece by piece, each when the client has taken the one before. Never rejects: what fails before the first piece is handed to
 * `onFailureBeforeStart`, what fails later ends the connection. The pieces are told to return in any case.
 */
export async function sendPieces(
  call: Call,
  { status, pieces, length, contentType, headers = {} }: PiecesReply,
  onFailureBeforeStart: (error: unknown) => void,
): Promise<void> {
  const { exchange } = call;
  const iterator = pieces[Symbol.asyncIterator]();
  let body: SizedBody | OpenBody | undefined;
  const open = (): SizedBody | OpenBody => {
    call.answered = true;
    const named = Object.entries(headers).flatMap(([name, value]) => [name, safeValue(value)]);
    const list = [...call.headers(), 'Content-Type', contentType, ...named];
    return length === undefined ? exchange.unsized(status ?? 200, list) : exchange.sized(status ?? 200, list, length);
  };
  try {
    let left = length ?? Number.POSITIVE_INFINITY;
    for (let isWanted = !call.answered && !exchange.gone; isWanted; ) {
      const step = await iterator.next();
      if (exchange.gone) break;
      if (step.done && length === undefined) {
        body ??= open();
        if ('end' in body) body.end();
        break;
      }
      if (step.done || step.value.byteLength > left) throw new Error(`The pieces of an answer of ${length} bytes are not as long as that.`);
      left -= step.value.byteLength;
      body ??= open();
      isWanted = await body.write(step.value);
    }
  } catch (error) {
    if (!body) return onFailureBeforeStart(error);
    if (!exchange.gone) logFailure(failureOf(error), { id: call.id, method: exchange.method, path: exchange.path });
  } finally {
    body?.cut();
    await Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

/** The same items, and `last` once when they end, fail or are not wanted, be it before the first. */
export function andThen<Item>(items: AsyncIterable<Item>, last: () => unknown): AsyncIterableIterator<Item> {
  const iterator = items[Symbol.asyncIterator]();
  let ended: Promise<unknown> | undefined;
  const end = (): Promise<unknown> => {
    ended ??= Promise.resolve(last());
    return ended;
  };
  return {
    async next() {
      try {
        const step = await iterator.next();
        if (step.done) await end();
        return step;
      } catch (error) {
        await end();
        throw error;
      }
    },
    async return() {
      try {
        await iterator.return?.();
      } finally {
        await end();
      }
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

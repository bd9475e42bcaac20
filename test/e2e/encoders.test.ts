import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import OpenAI from 'openai';
import { type DaemonUnderTest, emptyDataDir, startDaemon } from '../support/daemon.js';
import { writeTinyEncoders } from '../support/models/tiny-encoders.js';
import { until } from '../support/until.js';

const GIGABYTE = 2 ** 30;
const TEXTS = ['the cat sat on the mat', 'a ship in the harbour'];
const cosine = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, value, at) => sum + value * b[at]!, 0);

/** Announces or sends, in chunks, so many bytes as a JSON body until the server answers; resolves to the first line of the answer. */
async function pour(url: string, bytes: number, chunked: boolean): Promise<string> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  let answer = '';
  socket.setEncoding('latin1').on('data', (text: string) => (answer += text));
  const next = (event: string): Promise<void> =>
    new Promise((resolve) => {
      for (const one of [event, 'data', 'close']) socket.once(one, () => resolve());
    });
  const length = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${bytes}`;
  socket.write(`POST ${pathname} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${length}\r\n\r\n`);
  const piece = Buffer.alloc(0x10000, 'A');
  // A declared length is refused before the body comes; sent all the same, its rest would reset the connection and lose the answer.
  for (let sent = 0; chunked && sent < bytes && answer === '' && socket.writable; sent += piece.length) {
    socket.write('10000\r\n');
    socket.write(piece);
    socket.write('\r\n');
    if (socket.writableNeedDrain) await next('drain');
  }
  while (!answer.includes('\r\n') && !socket.closed) await next('drain');
  socket.destroy();
  return answer.split('\r\n')[0]!;
}

describe('encoders over real sockets', () => {
  let daemon: DaemonUnderTest;
  let client: OpenAI;

  before(async () => {
    const dataDir = emptyDataDir();
    writeTinyEncoders(join(dataDir, 'models'));
    daemon = await startDaemon({ dataDir });
    client = new OpenAI({ apiKey: 'none', maxRetries: 0, baseURL: `${daemon.runtime}/v1` });
  });
  after(() => daemon.end('SIGKILL'));

  it('gives the official client the same vectors in either format', async () => {
    // The client asks for base64 where nothing is said, and decodes it.
    const packed = await client.embeddings.create({ model: 'tiny/embedder', input: TEXTS });
    const plain = await client.embeddings.create({ model: 'tiny/embedder', input: TEXTS, encoding_format: 'float' });
    assert.deepEqual(
      packed.data.map(({ index, embedding }) => [index, embedding.length]),
      [
        [0, 64],
        [1, 64],
      ],
    );
    for (const [at, { embedding }] of plain.data.entries()) assert.ok(cosine(embedding, packed.data[at]!.embedding) > 0.99999);
    assert.ok(packed.usage.prompt_tokens > 10);
    const short = await client.embeddings.create({ model: 'tiny/gguf', input: TEXTS[0]!, dimensions: 8 });
    assert.equal(short.data[0]!.embedding.length, 8);
  });

  it('tells the official client what is wrong', async () => {
    await assert.rejects(client.embeddings.create({ model: 'nobody/nothing', input: 'x' }), (error: unknown) => {
      assert.ok(error instanceof OpenAI.NotFoundError, String(error));
      assert.equal(error.code, 'model_not_found');
      assert.match(error.message, /quern pull nobody\/nothing/);
      return true;
    });
    await assert.rejects(client.embeddings.create({ model: 'tiny/embedder', input: [1, 2, 3] }), OpenAI.UnprocessableEntityError);
  });

  it('embeds 10,000 texts in one request', async () => {
    const input = Array.from({ length: 10_000 }, (_none, at) => TEXTS[at % 2]!);
    const { data } = await client.embeddings.create({ model: 'tiny/embedder', input });
    assert.equal(data.length, 10_000);
    assert.ok(cosine(data[9999]!.embedding, data[1]!.embedding) > 0.9999);
    assert.ok(cosine(data[9999]!.embedding, data[0]!.embedding) < 0.99);
  });

  it('refuses a gigabyte without reading it', async () => {
    for (const chunked of [false, true]) {
      let answer = '';
      // Of a connection that is written to when it is closed, the system may lose what has come.
      await until(async () => {
        answer = await pour(`${daemon.runtime}/v1/embeddings`, GIGABYTE, chunked);
        return answer !== '';
      }, 'an answer arrives');
      assert.match(answer, /^HTTP\/1.1 413 /);
    }
    const again = await client.embeddings.create({ model: 'tiny/embedder', input: 'tea' });
    assert.equal(again.data.length, 1);
  });

  it('serves the encoders of a remote runtime through the core', async () => {
    const other = await startDaemon({ args: ['--runtime-url', daemon.runtime] });
    try {
      const ask = async (base: string, path: string, body: object) => {
        const headers = { 'content-type': 'application/json' };
        const answer = await fetch(`${base}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
        return { status: answer.status, body: JSON.parse(await answer.text()) };
      };
      const bodies = {
        embeddings: { model: 'tiny/embedder', input: TEXTS },
        rerank: { model: 'tiny/reranker', query: 'ship', documents: TEXTS },
        classify: { model: 'tiny/nli', texts: TEXTS },
        ner: { model: 'tiny/ner', texts: ['Anna works in Hamburg'] },
      };
      for (const [name, body] of Object.entries(bodies)) {
        const here = await ask(daemon.runtime, `/v1/${name}`, body);
        const there = await ask(other.core, `/v1/nlp/${name}`, body);
        assert.deepEqual([here.status, there.status], [200, 200], JSON.stringify(there.body).slice(0, 500));
        assert.equal(JSON.stringify(there.body.data).length > 10, true);
        if (name !== 'embeddings') assert.deepEqual(rounded(there.body), rounded(here.body));
      }
      const lost = await ask(other.core, '/v1/nlp/rerank', { ...bodies.rerank, model: 'nobody/nothing' });
      assert.deepEqual([lost.status, /quern pull nobody\/nothing/.test(JSON.stringify(lost.body))], [404, true], JSON.stringify(lost.body));
    } finally {
      await other.end('SIGKILL');
    }
  });
});

/** Numbers with six digits: batches of other sizes add in another order. */
const rounded = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_key, item: unknown) => (typeof item === 'number' ? Number(item.toPrecision(6)) : item)));

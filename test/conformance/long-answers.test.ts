import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTransport, dispatch, type Listener } from '../../gateway/http/index.js';
import { andThen } from '../../gateway/http/streamed-answer.js';
import { setLogLevel } from '../../runtime/base/log.js';
import { type Endpoint, endpoint } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import { until } from '../support/until.js';

const PIECE = Buffer.alloc(256 * 1024, 'q');
const PIECES = 128;
const LENGTH = PIECE.length * PIECES;

interface Scene {
  made: number;
  ended: number;
}

/** So many pieces; the one numbered `failing` fails instead. */
async function* pieces(scene: Scene, count: number, failing = -1): AsyncGenerator<Buffer, void, undefined> {
  for (let index = 0; index < count; index += 1) {
    await sleep(0);
    if (index === failing) throw new Failure('conflict', 'The rest is lost.');
    scene.made += 1;
    yield PIECE;
  }
}

const answering = (path: string, count: number, failing?: number): Endpoint<Scene>[] =>
  ['/told', '/open'].map((kind) =>
    endpoint({
      access: 'users',
      method: 'GET',
      path: kind + path,
      id: `${kind}${path}`,
      summary: '',
      tag: 'test',
      handler: (scene: Scene) => ({
        pieces: andThen(pieces(scene, count, failing), () => (scene.ended += 1)),
        ...(kind === '/told' ? { length: LENGTH } : {}),
        headers: { 'x-of': 'pieces' },
        contentType: 'text/plain',
      }),
    }),
  );

const endpoints = [
  ...answering('/whole', PIECES),
  ...answering('/short', 3),
  ...answering('/never', PIECES, 0),
  ...answering('/broken', PIECES, 9),
  ...answering('/none', 0),
];

for (const [name, kind] of [
  ['uws', '/told'],
  ['node', '/told'],
  ['uws', '/open'],
  ['node', '/open'],
] as const)
  describe(`long answers over ${name}, ${kind === '/told' ? 'of a length that is told' : 'of any length'}`, () => {
    const isTold = kind === '/told';
    const told = isTold ? String(LENGTH) : undefined;
    const scene: Scene = { made: 0, ended: 0 };
    let listener: Listener;
    const url = (path: string): string => `http://127.0.0.1:${listener.port}${kind}${path}`;
    const allEnded = async (count: number): Promise<void> => {
      await until(() => scene.ended >= count, 'the pieces are told to return');
      await sleep(20);
      assert.equal(scene.ended, count, 'how often pieces were told to return');
    };

    before(async () => {
      setLogLevel('error');
      const application = dispatch({ endpoints, context: scene, access: { bindHost: '127.0.0.1' } });
      listener = await createTransport(name).listen({ host: '127.0.0.1', port: 0, application });
    });
    after(() => listener.drain(100));

    it('come whole, to several at once and on one connection', async () => {
      Object.assign(scene, { made: 0, ended: 0 });
      for (let round = 0; round < 2; round += 1) {
        const answers = await Promise.all(Array.from({ length: 4 }, () => fetch(url('/whole'))));
        for (const { headers } of answers) assert.deepEqual([headers.get('content-length'), headers.get('x-of')], [told ?? null, 'pieces']);
        // All are read at once: a reader that takes nothing for ten seconds is dropped.
        const texts = await Promise.all(answers.map((answer) => answer.text()));
        assert.deepEqual(
          texts.map(({ length }) => length),
          Array(4).fill(LENGTH),
        );
      }
      await allEnded(8);
    });

    it('are made no faster than they are taken', async () => {
      Object.assign(scene, { made: 0, ended: 0 });
      const ask = request(url('/whole')).end();
      const answer = await new Promise<import('node:http').IncomingMessage>((resolve) => ask.once('response', resolve));
      await sleep(300);
      assert.ok(scene.made < PIECES / 2, `${scene.made} of ${PIECES} pieces were made for a client that reads nothing`);
      let read = 0;
      for await (const piece of answer) read += piece.length;
      assert.equal(read, LENGTH);
      await allEnded(1);
    });

    it('end when the client leaves', async () => {
      Object.assign(scene, { made: 0, ended: 0 });
      const ask = request(url('/whole')).on('error', () => undefined);
      ask.on('response', (answer) => answer.once('data', () => ask.destroy()));
      ask.end();
      await allEnded(1);
      assert.ok(scene.made < PIECES, 'all was made for nobody');
    });

    it('give their length and no piece to HEAD', async () => {
      Object.assign(scene, { made: 0, ended: 0 });
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const ask = (method: string): Promise<[number | undefined, string | undefined]> =>
        new Promise((resolve, reject) => {
          const one = request(url('/whole'), { method, agent }).on('error', reject);
          one.on('response', (answer) => answer.resume().on('end', () => resolve([answer.statusCode, answer.headers['content-length']])));
          one.end();
        });
      assert.deepEqual(await ask('HEAD'), [200, told]);
      await allEnded(1);
      assert.ok(scene.made <= 1, `${scene.made} pieces were made`);
      assert.deepEqual(await ask('GET'), [200, told], 'the next request of the connection');
      agent.destroy();
    });

    it('are refused with their status when they fail before they begin', async () => {
      Object.assign(scene, { made: 0, ended: 0 });
      const answer = await fetch(url('/never'));
      assert.deepEqual([answer.status, ((await answer.json()) as { detail: string }).detail], [409, 'The rest is lost.']);
      await allEnded(1);
    });

    if (!isTold)
      it('may be empty', async () => {
        Object.assign(scene, { made: 0, ended: 0 });
        assert.equal(await (await fetch(url('/none'))).text(), '');
        await allEnded(1);
      });

    for (const path of isTold ? ['/broken', '/short'] : ['/broken'])
      it(`are seen to be incomplete: ${path}`, async () => {
        Object.assign(scene, { made: 0, ended: 0 });
        const answer = await fetch(url(path));
        assert.equal(answer.status, 200);
        await assert.rejects(answer.text());
        await allEnded(1);
        assert.equal((await fetch(url('/never'))).status, 409, 'others go on');
      });
  });

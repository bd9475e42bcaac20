import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTransport, dispatch, type Listener } from '../../gateway/http/index.js';
import { setLogLevel } from '../../runtime/base/log.js';
import { type Endpoint, endpoint, type UploadedFile } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';

/** Size of the long upload; `UPLOAD_BYTES=2147483648` runs the full one. */
const LONG_BYTES = Number(process.env.UPLOAD_BYTES ?? 192 * 1024 * 1024);
/** What a long upload may add to the memory of the process that serves it and, here, sends it too. */
const MEMORY_BYTES = 96 * 1024 * 1024;
const MIB = 1024 * 1024;

interface Scene {
  kept: string;
  seen: readonly UploadedFile[];
  handled: number;
}

const common = { method: 'POST', summary: '', tag: 'test' } as const;
const endpoints: Endpoint<Scene>[] = [
  endpoint({
    ...common,
    access: 'users',
    path: '/one',
    id: 'one',
    multipart: { form: 'core/datasets#UploadForm', maxFiles: 1, fileLimitBytes: 4 * 1024 * MIB },
    handler: (scene, { files, body }) => {
      scene.handled += 1;
      scene.seen = files;
      const [file] = files;
      renameSync(file!.path, join(scene.kept, 'kept'));
      return { json: { ...file, body } };
    },
  }),
  endpoint({
    ...common,
    access: 'users',
    path: '/small',
    id: 'small',
    multipart: { form: 'core/datasets#BulkForm', maxFiles: 3, fileLimitBytes: 1000 },
    handler: (scene, { files }) => {
      scene.handled += 1;
      return { json: files.map(({ name, sizeBytes }) => [name, sizeBytes]) };
    },
  }),
  endpoint({
    ...common,
    access: 'users',
    path: '/closed',
    id: 'closed',
    multipart: {
      form: 'core/datasets#UploadForm',
      maxFiles: 1,
      fileLimitBytes: 4 * 1024 * MIB,
      admit: () => {
        throw new Failure('not_found', 'There is no such place.');
      },
    },
    handler: () => ({ json: 'never' }),
  }),
];

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

for (const name of ['uws', 'node'] as const) {
  describe(`uploads over ${name}`, () => {
    const kept = mkdtempSync(join(tmpdir(), 'quern-kept-'));
    const uploadFolder = mkdtempSync(join(tmpdir(), 'quern-uploads-'));
    const scene: Scene = { kept, seen: [], handled: 0 };
    let listener: Listener;
    const left = (): string[] => readdirSync(uploadFolder);
    const url = (path: string): string => `http://127.0.0.1:${listener.port}${path}`;

    before(async () => {
      setLogLevel('error');
      writeFileSync(join(uploadFolder, 'upload-of-a-killed-process'), 'x');
      const application = dispatch({ endpoints, context: scene, access: { bindHost: '127.0.0.1' }, uploadFolder });
      listener = await createTransport(name).listen({ host: '127.0.0.1', port: 0, application, limits: { bodyTimeoutMs: 4_000 } });
    });
    after(async () => {
      await listener.drain(100);
      for (const folder of [kept, uploadFolder]) rmSync(folder, { recursive: true, force: true });
    });

    async function post(path: string, form: FormData): Promise<{ status: number; body: Record<string, unknown> & unknown[] }> {
      const answer = await fetch(url(path), { method: 'POST', body: form });
      return { status: answer.status, body: (await answer.json()) as never };
    }

    const formOf = (...files: [field: string, bytes: Uint8Array | string, name: string][]): FormData => {
      const form = new FormData();
      for (const [field, bytes, file] of files) form.append(field, new Blob([bytes as never]), file);
      return form;
    };

    it('stores bytes as they came, with their hash and name, and the text fields', async () => {
      const bytes = randomBytes(3 * MIB + 7);
      const form = formOf(['file', bytes, 'Überblick 1.pdf']);
      form.append('parser_overrides', '{"a":1}');
      const { status, body } = await post('/one', form);
      assert.equal(status, 200, JSON.stringify(body));
      assert.equal(body.sha256, sha256(bytes));
      assert.equal(body.name, 'Überblick 1.pdf');
      assert.equal(body.sizeBytes, bytes.length);
      assert.deepEqual(body.body, { parser_overrides: '{"a":1}' });
      assert.ok(readFileSync(join(kept, 'kept')).equals(bytes));
      assert.deepEqual(left(), []);
    });

    it('takes the next request of a connection after each upload', async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const sockets = new Set<unknown>();
      // Around the sizes at which the last piece of a body fills the buffer of the reader.
      for (const size of [200_000, 262_144, 300_000, 524_288, 600_000, 1_000_000]) {
        const status = await new Promise<number | undefined>((resolve, reject) => {
          const ask = request(url('/one'), { method: 'POST', agent, headers: { 'content-type': 'multipart/form-data; boundary=b' } });
          ask.on('error', reject).on('socket', (socket) => sockets.add(socket));
          ask.on('response', (answer) => answer.resume().on('end', () => resolve(answer.statusCode)));
          ask.end(`--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n${'y'.repeat(size)}\r\n--b--\r\n`);
        });
        assert.equal(status, 200);
      }
      assert.equal(sockets.size, 1);
      agent.destroy();
    });

    it('takes an empty file and many files, also under a name with []', async () => {
      const { status, body } = await post('/small', formOf(['files', '', 'empty.txt'], ['files[]', 'abc', 'a/b/c.txt']));
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual(body, [
        ['empty.txt', 0],
        ['c.txt', 3],
      ]);
      assert.deepEqual(left(), []);
    });

    it('refuses what breaks a limit, and keeps nothing of it', async () => {
      const before = scene.handled;
      const many = await post(
        '/small',
        formOf(...Array.from({ length: 4 }, (_, at) => ['files', 'x', `${at}`] as [string, string, string])),
      );
      assert.equal(many.status, 400, JSON.stringify(many.body));
      assert.match(String(many.body.detail), /3 files/);
      const large = await post('/small', formOf(['files', 'x'.repeat(1001), 'large.txt']));
      assert.equal(large.status, 413, JSON.stringify(large.body));
      assert.match(String(large.body.detail), /Maximum size is [0-9.]+ MB; "large\.txt" has more/);
      const missing = await post('/one', formOf(['other', 'x', 'x.txt']));
      assert.equal(missing.status, 422);
      assert.deepEqual((missing.body.errors as { loc: string[] }[])[0]!.loc, ['body', 'file']);
      const asText = new FormData();
      asText.append('file', 'only text');
      assert.equal((await post('/one', asText)).status, 422);
      const broken = await fetch(url('/one'), {
        method: 'POST',
        body: '--b\r\n',
        headers: { 'content-type': 'multipart/form-data; boundary=b' },
      });
      assert.equal(broken.status, 422, await broken.text());
      const json = await fetch(url('/one'), { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } });
      assert.equal(json.status, 415, await json.text());
      assert.equal(scene.handled, before);
      assert.deepEqual(left(), []);
    });

    it('refuses before the body where the place does not exist', async () => {
      const { status } = await post('/closed', formOf(['file', randomBytes(2 * MIB), 'x']));
      assert.equal(status, 404);
      assert.deepEqual(left(), []);
    });

    it('leaves nothing of a client that vanishes', async () => {
      const before = scene.handled;
      const socket = connect(listener.port, '127.0.0.1');
      socket.write(
        `POST /one HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 9999999\r\n\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n${'y'.repeat(500_000)}`,
      );
      while (left().length === 0) await sleep(5);
      socket.destroy();
      while (left().length > 0) await sleep(5);
      assert.equal(scene.handled, before);
    });

    it('drops a client that stops in the middle', async () => {
      const socket = connect(listener.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.write(
        'POST /one HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 9999\r\n\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\nyyy',
      );
      socket.resume();
      await new Promise((resolve) => socket.once('close', resolve));
      while (left().length > 0) await sleep(5);
    });

    it('needs little memory for a long upload', async () => {
      const piece = Buffer.alloc(MIB, 'z');
      const hash = createHash('sha256');
      const ask = request(url('/one'), { method: 'POST', headers: { 'content-type': 'multipart/form-data; boundary=b' } });
      const answered = new Promise<{ sha256: string; sizeBytes: number }>((resolve, reject) => {
        ask.on('error', reject);
        ask.on('response', (answer) => {
          let text = '';
          answer.setEncoding('utf8').on('data', (more: string) => (text += more));
          answer.on('end', () => resolve(JSON.parse(text)));
        });
      });
      ask.write('--b\r\nContent-Disposition: form-data; name="file"; filename="long.bin"\r\n\r\n');
      const start = process.memoryUsage().rss;
      let peak = start;
      for (let sent = 0; sent < LONG_BYTES; sent += piece.length) {
        hash.update(piece);
        if (!ask.write(piece)) await new Promise((resolve) => ask.once('drain', resolve));
        peak = Math.max(peak, process.memoryUsage().rss);
      }
      ask.end('\r\n--b--\r\n');
      const stored = await answered;
      assert.equal(stored.sizeBytes, LONG_BYTES);
      assert.equal(stored.sha256, hash.digest('hex'));
      assert.ok(peak - start < MEMORY_BYTES, `grew by ${Math.round((peak - start) / MIB)} MiB`);
      assert.deepEqual(left(), []);
    });
  });
}

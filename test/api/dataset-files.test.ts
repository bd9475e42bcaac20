import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { coreEndpoints } from '../../gateway/core/index.js';
import { dispatch } from '../../gateway/http/dispatch.js';
import type { Application } from '../../gateway/http/transport.js';
import { pictureHead } from '../../runtime/pictures/head.js';
import type { Runtime } from '../../runtime/runtime.js';
import { openedRuntime } from '../support/compat-stage.js';
import { emptyDataDir } from '../support/daemon.js';
import { formOf } from '../support/dataset-stage.js';
import { pdf } from '../support/documents.js';
import type { Answer } from '../support/exchange.js';
import { send } from '../support/scenario.js';
import { until } from '../support/until.js';

const P = '/v1/projects/ns/p';
const TWO_PAGES = Buffer.from(
  pdf(['BT /F1 24 Tf 72 700 Td (The first page tells of apples.) Tj ET', 'BT /F1 24 Tf 72 700 Td (The second of pears.) Tj ET']),
).toString('latin1');
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
/** A file of the dataset: its name, its bytes, and the type that its client says. */
const FILES = {
  pdf: ['two.pdf', Buffer.from(TWO_PAGES, 'latin1'), 'application/pdf'],
  page: ['../evil".html', Buffer.from('<script>alert(1)</script>'), 'text/html'],
  svg: ['a.svg', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml'],
  text: ['a.txt', Buffer.from('Plain words, and <b>no page</b>.'), 'text/plain'],
  sound: ['a.wav', Buffer.from('RIFF0123456789'), 'audio/x-wav'],
  broken: ['b.pdf', Buffer.from('%PDF-1.4 and nothing else'), 'application/pdf'],
  picture: ['dot.png', Buffer.from(PIXEL, 'base64'), 'image/png'],
  empty: ['empty.txt', Buffer.from(''), 'text/plain'],
} as const;
type Name = keyof typeof FILES;

/** One file as a form, with its type. */
function form([name, bytes, type]: (typeof FILES)[Name]): { headers: Record<string, string>; body: Buffer } {
  const { headers } = formOf([]);
  const [, boundary] = headers['content-type']!.split('boundary=');
  const safe = name.replaceAll('"', '%22');
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${safe}"\r\nContent-Type: ${type}\r\n\r\n`;
  return { headers, body: Buffer.concat([Buffer.from(head), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]) };
}

describe('the files of a dataset', () => {
  let runtime: Runtime;
  let core: Application;
  const get = (path: string, headers: Record<string, string> = {}): Promise<Answer> => send(core, { path: P + path, headers });
  const fileOf = (name: Name): string => `/datasets/docs/data/${hashOf(FILES[name][1])}`;
  before(async () => {
    runtime = await openedRuntime(emptyDataDir());
    core = dispatch({ endpoints: coreEndpoints, context: runtime, access: { bindHost: '127.0.0.1' } });
    const post = async (path: string, body: unknown): Promise<Answer> => {
      const answer = await send(core, { method: 'POST', path, body });
      assert.ok(answer.status < 300, answer.text);
      return answer;
    };
    await post('/v1/projects/ns', { name: 'p' });
    await post(`${P}/datasets`, { name: 'docs', data_processing_strategy: 'universal_processor', database: 'main_database' });
    for (const file of Object.values(FILES)) {
      const answer = await send(core, { method: 'POST', path: `${P}/datasets/docs/data`, ...form(file) });
      assert.equal(answer.status, 200, answer.text);
    }
    const { task_id: task } = JSON.parse((await post(`${P}/datasets/docs/actions`, { action_type: 'process' })).text) as {
      task_id: string;
    };
    await until(async () => /SUCCESS|FAILURE/.test((await get(`/tasks/${task}`)).text), 'the files are processed');
  });
  after(() => runtime?.close());

  it('come back byte by byte, shown where no browser runs them', async () => {
    const shown: Partial<Record<Name, string>> = {
      pdf: 'application/pdf',
      broken: 'application/pdf',
      text: 'text/plain; charset=utf-8',
      sound: 'audio/wav',
      picture: 'image/png',
    };
    for (const name of Object.keys(FILES) as Name[]) {
      const [, bytes] = FILES[name];
      const { status, headers, text } = await get(fileOf(name));
      assert.equal(status, 200, text);
      assert.equal(text, bytes.toString('utf8'), name);
      assert.equal(headers['x-content-type-options'], 'nosniff');
      assert.match(headers['content-security-policy']!, /default-src 'none'/);
      if (name === 'empty') continue;
      assert.equal(headers['content-type'], shown[name] ?? 'application/octet-stream', name);
      assert.match(headers['content-disposition']!, shown[name] ? /^inline; / : /^attachment; /, name);
      assert.match((await get(`${fileOf(name)}?download=1`)).headers['content-disposition']!, /^attachment; /);
    }
    const { headers } = await get(fileOf('page'));
    assert.match(headers['content-disposition']!, /^attachment; filename="[^"\\/]*evil[^"\\/]*"; filename\*=UTF-8''[\w.%-]+$/);
  });

  it('come in ranges, and not at all where the client has them', async () => {
    const whole = FILES.text[1].toString();
    const ranged = async (range: string, more = {}): Promise<[number, string, string | undefined]> => {
      const { status, text, headers } = await get(fileOf('text'), { range, ...more });
      return [status, text, headers['content-range']];
    };
    assert.deepEqual(await ranged('bytes=0-4'), [206, 'Plain', `bytes 0-4/${whole.length}`]);
    assert.deepEqual(await ranged('bytes=6-'), [206, whole.slice(6), `bytes 6-${whole.length - 1}/${whole.length}`]);
    assert.deepEqual(await ranged('bytes=-6'), [206, whole.slice(-6), `bytes ${whole.length - 6}-${whole.length - 1}/${whole.length}`]);
    assert.deepEqual(await ranged('bytes=0-999999'), [206, whole, `bytes 0-${whole.length - 1}/${whole.length}`]);
    for (const beyond of ['bytes=999-', 'bytes=-0', 'bytes=999-1000'])
      assert.deepEqual(await ranged(beyond), [416, '', `bytes */${whole.length}`], beyond);
    for (const odd of ['bytes=5-2', 'bytes=-', 'lines=1-2', 'bytes=0-1,3-4', `bytes=${'9'.repeat(40)}-`])
      assert.deepEqual(await ranged(odd), [200, whole, undefined], odd);
    assert.deepEqual(await ranged('bytes=0-4', { 'if-range': '"another"' }), [200, whole, undefined]);
    const { etag } = (await get(fileOf('text'))).headers;
    for (const tags of [etag!, `"another", W/${etag}`, '*']) {
      const { status, text } = await get(fileOf('text'), { 'if-none-match': tags });
      assert.deepEqual([status, text], [304, ''], tags);
    }
    assert.equal((await get(fileOf('text'), { 'if-none-match': '"another"' })).status, 200);
  });

  it('show their pages as pictures', async () => {
    for (const [name, page, width, wide] of [
      ['pdf', 1, 200, 200],
      ['pdf', 2, 300, 300],
      ['picture', 1, 300, 1],
    ] as const) {
      const found = await runtime.datasets.file('ns', 'p', 'docs', hashOf(FILES[name][1]));
      const bytes = await runtime.pagePictures.picture(
        { hash: hashOf(FILES[name][1]), file: found },
        page,
        width,
        AbortSignal.timeout(30_000),
      );
      assert.equal(pictureHead(bytes)?.format, 'webp');
      assert.equal(pictureHead(bytes)?.width, wide);
      const { status, headers } = await get(`${fileOf(name)}/pages/${page}?width=${width}`);
      assert.deepEqual([status, headers['content-type']], [200, 'image/webp']);
    }
    for (const [path, status, told] of [
      [`${fileOf('pdf')}/pages/3`, 404, /2 pages, and no page 3/],
      [`${fileOf('pdf')}/pages/0`, 404, /numbered from 1/],
      [`${fileOf('pdf')}/pages/..%2F1`, 404, /Not Found/],
      [`${fileOf('text')}/pages/1`, 404, /has no pages/],
      [`${fileOf('broken')}/pages/1`, 422, /b\.pdf/],
      [`${fileOf('pdf')}/pages/1?width=100000`, 422, /width/],
    ] as const) {
      const answer = await get(path);
      assert.equal(answer.status, status, path);
      assert.match(answer.text, told);
    }
  });

  it('tell their chunks', async () => {
    const body = JSON.parse((await get(`${fileOf('pdf')}/chunks`)).text);
    assert.deepEqual([body.pages, body.next], [2, null]);
    const [first] = body.chunks;
    assert.match(first.text, /apples/);
    assert.deepEqual([first.page, first.start, typeof first.id, first.metadata.dataset], [1, 0, 'string', 'docs']);
    const page = JSON.parse((await get(`${fileOf('pdf')}/chunks?limit=1`)).text);
    assert.deepEqual(page.chunks, [first]);
    if (page.next !== null)
      assert.deepEqual(JSON.parse((await get(`${fileOf('pdf')}/chunks?limit=1&cursor=${page.next}`)).text).chunks, body.chunks.slice(1, 2));
    assert.deepEqual(JSON.parse((await get(`${fileOf('empty')}/chunks`)).text), { chunks: [], next: null, pages: null });
  });

  it('are for all who may see the project', () => {
    for (const id of ['dataset_data_read', 'dataset_data_page', 'dataset_data_chunks'])
      assert.equal(coreEndpoints.find((one) => one.id === id)?.access, 'members', id);
  });

  it('are found by no name that leads elsewhere', async () => {
    for (const name of ['..%2F..%2Fproject.yaml', '%2Fetc%2Fpasswd', 'a'.repeat(64), '%00', '..'])
      for (const more of ['', '/pages/1', '/chunks']) {
        const { status } = await get(`/datasets/docs/data/${name}${more}`);
        assert.equal(status, 404, `${name}${more}`);
      }
  });
});

import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { dispatch } from '../../gateway/http/dispatch.js';
import { fileEndpoints } from '../../gateway/universal/files.js';
import { setLogLevel } from '../../runtime/base/log.js';
import type { FileLimits } from '../../runtime/files/limits.js';
import { pictureHead } from '../../runtime/pictures/head.js';
import { emptyDataDir } from '../support/daemon.js';
import { drawn, pdf } from '../support/documents.js';
import { type Scenario, scenarios, send } from '../support/scenario.js';
import { until } from '../support/until.js';
import { pagePng } from '../support/vision/glyphs.js';
import { binaryForm, openVisionStage, type VisionStage } from '../support/vision/stage.js';

setLogLevel('error');
const dataDir = emptyDataDir();
const png = await pagePng(64, 32, [{ text: 'Q', x: 4, y: 4 }]);
const twoPages = pdf([drawn([[18, 20, 'One']]), drawn([[18, 20, 'Two']])]);
const HUGE_PAGE = Buffer.from(
  Buffer.from(pdf(['']))
    .toString('latin1')
    .replace('[0 0 400 400]', '[0 0 9e5 9e5]'),
  'latin1',
);
let stage: VisionStage;
let clock = 1_700_000_000_000;
const ids = new Map<string, string>();

const upload = (
  name: string,
  content: Uint8Array,
  rest: Partial<Scenario> & { fields?: Record<string, string>; type?: string } = {},
): Scenario => ({
  name: `upload ${name.slice(0, 40)}`,
  method: 'POST',
  path: '/v1/files',
  ...binaryForm([['file', name, content, rest.type ?? 'application/octet-stream']], rest.fields),
  json: (body) => {
    if (body.id) ids.set(name, body.id);
  },
  ...rest,
});
const at =
  (name: string, rest = '') =>
  () =>
    `/v1/files/${ids.get(name)}${rest}`;
const TRAVERSALS = ['../../etc/passwd', '..%2f..%2fetc%2fpasswd', 'file_00000000_00000000', '%00', 'a'.repeat(300)];

const table: Scenario[] = [
  {
    name: 'nothing is kept at first',
    path: '/v1/files',
    json: (body) => assert.deepEqual(body, { object: 'list', data: [], has_more: false }),
  },
  upload('note.txt', Buffer.from('hello'), {
    type: 'text/plain',
    json: (body) => {
      ids.set('note.txt', body.id);
      assert.match(body.id, /^file_[0-9a-f]{8}_[0-9a-f]{8}$/);
      const { id: _id, ...rest } = body;
      assert.deepEqual(rest, {
        object: 'file',
        filename: 'note.txt',
        content_type: 'text/plain',
        size: 5,
        created_at: 1_700_000_000,
        has_images: false,
        page_count: null,
        bytes: 5,
        purpose: 'assistants',
        status: 'processed',
        expires_at: 1_700_000_300,
      });
    },
  }),
  { name: 'an unknown id', path: '/v1/files/file_0_0', status: 404, contains: ['File not found: file_0_0'] },
  ...TRAVERSALS.flatMap((id): Scenario[] => [
    { name: `an id that leads elsewhere: ${id.slice(0, 30)}`, path: `/v1/files/${id}`, status: 404, lacks: ['root:'] },
    { name: `images of an id that leads elsewhere: ${id.slice(0, 30)}`, path: `/v1/files/${id}/images`, status: 404 },
  ]),
  { name: 'images of a text', path: at('note.txt', '/images'), status: 400, contains: ['cannot be converted to images'] },
  upload('a.png', png, {
    json: (body) => {
      ids.set('a.png', body.id);
      assert.deepEqual([body.has_images, body.page_count], [true, null]);
    },
  }),
  { name: 'an image file has no converted pages', path: at('a.png'), json: (body) => assert.equal(body.has_images, false) },
  {
    name: 'the image itself',
    path: at('a.png', '/images'),
    json: (body) => {
      assert.deepEqual([body.object, body.file_id, body.data.length, body.data[0].index], ['list', ids.get('a.png'), 1, 0]);
      assert.deepEqual(Buffer.from(body.data[0].base64, 'base64'), Buffer.from(png));
    },
  },
  upload('two.pdf', twoPages, {
    fields: { pdf_dpi: '72' },
    json: (body) => {
      ids.set('two.pdf', body.id);
      assert.deepEqual([body.has_images, body.page_count], [true, 2]);
    },
  }),
  {
    name: 'pages as PNG at the resolution that was asked for',
    path: at('two.pdf', '/images'),
    json: (body) => {
      assert.deepEqual(
        body.data.map((one: { index: number }) => one.index),
        [0, 1],
      );
      const heads = body.data.map((one: { base64: string }) => pictureHead(Buffer.from(one.base64, 'base64')));
      assert.deepEqual(
        heads,
        [1, 2].map(() => ({ format: 'png', width: 400, height: 400 })),
      );
      assert.notEqual(body.data[0].base64, body.data[1].base64);
    },
  },
  { name: 'the same again', path: at('two.pdf', '/images'), json: (body) => assert.equal(body.data.length, 2) },
  upload('kept.pdf', twoPages, {
    fields: { convert_pdf: 'False', purpose: 'batch', pdf_dpi: '' },
    json: (body) => {
      ids.set('kept.pdf', body.id);
      assert.deepEqual([body.has_images, body.page_count, body.purpose], [false, null, 'batch']);
    },
  }),
  upload('refused.pdf', twoPages, { fields: { convert_pdf: 'perhaps' }, status: 422, contains: ['["body","convert_pdf"]', 'boolean'] }),
  upload('refused.pdf', twoPages, { fields: { pdf_dpi: '0x48' }, status: 422, contains: ['["body","pdf_dpi"]', 'integer'] }),
  {
    name: 'images of a PDF that was not converted',
    path: at('kept.pdf', '/images'),
    status: 400,
    contains: ['cannot be converted to images: it was uploaded with convert_pdf=false', 'Upload it again with convert_pdf=true'],
    lacks: ['neither PDF'],
  },
  upload('huge.pdf', HUGE_PAGE, { fields: { pdf_dpi: '600' } }),
  {
    name: 'a page of 12 km is rendered within its bounds',
    path: at('huge.pdf', '/images'),
    json: (body) => {
      const { width, height } = pictureHead(Buffer.from(body.data[0].base64, 'base64'))!;
      assert.ok(width * height <= 16_100_000, `${width} x ${height}`);
    },
  },
  upload('broken.pdf', Buffer.from('%PDF-1.4 nothing'), { status: 400, contains: ['broken.pdf'] }),
  upload('empty.txt', Buffer.alloc(0), { status: 400, contains: ['empty'] }),
  upload('../../../up.txt', Buffer.from('x'), { json: (body) => assert.equal(body.filename, 'up.txt') }),
  upload('dpi.pdf', twoPages, { fields: { pdf_dpi: '100000' }, status: 422, contains: ['pdf_dpi'] }),
  upload('dpi.pdf', twoPages, { fields: { pdf_dpi: 'NaN' }, status: 422, contains: ['pdf_dpi'] }),
  {
    name: 'a form without a file',
    method: 'POST',
    path: '/v1/files',
    ...binaryForm([], { purpose: 'x' }),
    status: 422,
    contains: ['file'],
  },
  { name: 'JSON instead of a form', method: 'POST', path: '/v1/files', body: { file: 'x' }, status: 415 },
  {
    name: 'two files',
    method: 'POST',
    path: '/v1/files',
    ...binaryForm([
      ['file', 'a', Buffer.from('1')],
      ['file', 'b', Buffer.from('2')],
    ]),
    status: 400,
  },
  upload('large.bin', Buffer.alloc(101 * 1024 * 1024), { status: 413, contains: ['File too large. Maximum size is 100 MB'] }),
  {
    name: 'the list has what is left of each life',
    path: '/v1/files',
    json: (body) => {
      const [first] = body.data;
      assert.equal(body.data.length, 6);
      assert.deepEqual(
        [first.id, first.filename, first.size, first.ttl_remaining, first.has_page_images, first.page_count],
        [ids.get('note.txt'), 'note.txt', 5, 300, false, null],
      );
      assert.deepEqual(
        body.data.map((one: { has_page_images: boolean }) => one.has_page_images),
        [false, false, true, false, true, false],
      );
    },
  },
  {
    name: 'the list of one purpose',
    path: '/v1/files?purpose=batch',
    json: (body) =>
      assert.deepEqual(
        body.data.map((one: { id: string }) => one.id),
        [ids.get('kept.pdf')],
      ),
  },
  {
    name: 'delete',
    method: 'DELETE',
    path: at('note.txt'),
    json: (body) => assert.deepEqual(body, { deleted: true, id: ids.get('note.txt'), object: 'file' }),
  },
  { name: 'delete again', method: 'DELETE', path: at('note.txt'), status: 404, contains: ['File not found'] },
  { name: 'a deleted file', path: at('note.txt'), status: 404 },
  {
    name: 'a file goes when it was to go from the start, however late and often it is read',
    path: () => {
      clock += 123_456;
      return `/v1/files/${ids.get('a.png')}`;
    },
    json: (body) => assert.deepEqual([body.created_at, body.expires_at], [1_700_000_000, 1_700_000_300]),
  },
  {
    name: 'and the list agrees',
    path: '/v1/files',
    json: (body) => assert.deepEqual(new Set(body.data.map((one: { ttl_remaining: number }) => one.ttl_remaining)), new Set([176.544])),
  },
  {
    name: 'after five minutes a file is gone',
    path: () => {
      clock += 300_000 - 123_456;
      return `/v1/files/${ids.get('a.png')}`;
    },
    status: 404,
  },
  {
    name: 'and its bytes with it',
    path: '/v1/files',
    json: async (body) => {
      assert.deepEqual(body.data, []);
      await until(() => readdirSync(join(dataDir, 'files')).length === 0, 'the bytes are gone');
    },
  },
];

scenarios(
  'files',
  {
    endpoints: fileEndpoints,
    context: () => {
      stage = openVisionStage(dataDir, {}, () => clock);
      return stage;
    },
    close: async (open) => {
      await (open as VisionStage).close();
      assert.ok(!existsSync(join(dataDir, 'files')));
    },
  },
  table,
);

describe('files at their bounds', () => {
  it('are refused with the time after which there is room', async () => {
    const small = openVisionStage(emptyDataDir(), { maxFiles: 2, totalBytes: 1000 }, () => clock);
    const application = dispatch({ endpoints: fileEndpoints, context: small, access: { bindHost: '127.0.0.1' } });
    const put = (name: string, bytes: number) =>
      send(application, { method: 'POST', path: '/v1/files', ...binaryForm([['file', name, Buffer.alloc(bytes, 1)]]) });
    assert.equal((await put('a', 600)).status, 200);
    assert.deepEqual([(await put('b', 600)).status, (await put('c', 300)).status], [503, 200]);
    const full = await put('d', 1);
    assert.equal(full.status, 503);
    assert.equal(full.headers['retry-after'], '300');
    clock += 300_000;
    assert.equal((await put('e', 900)).status, 200);
    await small.close();
  });

  it('end a rendering that nobody waits for', async () => {
    const { files, close } = openVisionStage(emptyDataDir());
    const { pictures } = files;
    assert.ok(pictures);
    const application = dispatch({ endpoints: fileEndpoints, context: { files }, access: { bindHost: '127.0.0.1' } });
    const pages = Array.from({ length: 60 }, (_, index) => drawn([[18, 20, `Page ${index}`]]));
    const put = await send(application, {
      method: 'POST',
      path: '/v1/files',
      ...binaryForm([['file', 'many.pdf', pdf(pages)]], { pdf_dpi: '300' }),
    });
    const { id } = JSON.parse(put.text);
    const control = new AbortController();
    const left = assert.rejects(files.pictures(id, control.signal));
    setTimeout(() => control.abort(), 100);
    await left;
    const held = await files.pictures(id, new AbortController().signal);
    assert.equal(held.pictures.length, 60);
    files.remove(id);
    assert.ok(
      held.pictures.every(({ path }) => existsSync(path!)),
      'what is in use stays',
    );
    held.release();
    await close();
  });

  /** A stage with bounds, and what asks it. */
  function bounded(limits: Partial<FileLimits>) {
    const folder = emptyDataDir();
    const stage = openVisionStage(folder, limits);
    const application = dispatch({ endpoints: fileEndpoints, context: stage, access: { bindHost: '127.0.0.1' } });
    const put = (name: string, content: Uint8Array) =>
      send(application, { method: 'POST', path: '/v1/files', ...binaryForm([['file', name, content]]) });
    const images = async (put: Promise<{ text: string }>) => `/v1/files/${JSON.parse((await put).text).id}/images`;
    const get = (path: string) => send(application, { method: 'GET', path });
    const kept = () => readdirSync(join(folder, 'files'), { recursive: true }).filter((name) => /\.png$/.test(String(name)));
    return { put, images, get, kept, close: stage.close };
  }
  const statuses = async (answers: Promise<{ status: number }>[]) => (await Promise.all(answers)).map(({ status }) => status).sort();

  it('hold for uploads that come at the same time', async () => {
    const bytes = bounded({ totalBytes: twoPages.length * 2 });
    const names = ['a.pdf', 'b.pdf', 'c.pdf', 'd.pdf'];
    assert.deepEqual(await statuses(names.map((name) => bytes.put(name, twoPages))), [200, 200, 503, 503]);
    await bytes.close();
    const files = bounded({ maxFiles: 1 });
    assert.deepEqual(await statuses(names.map((name) => files.put(name, twoPages))), [200, 503, 503, 503]);
    await files.close();
  });

  it('have the room again of an upload that failed', async () => {
    const { put, close } = bounded({ maxFiles: 1, totalBytes: twoPages.length });
    assert.equal((await put('broken.pdf', Buffer.from('%PDF-1.4 nothing'))).status, 400);
    assert.equal((await put('good.pdf', twoPages)).status, 200);
    await close();
  });

  it('have room for all pages that fit, however many wait for their turn', async () => {
    const [names, imageBytes] = [Array.from({ length: 32 }, (_, index) => `${index}.pdf`), 100_000];
    const { put, images, get, close } = bounded({ imageBytes, totalBytes: names.length * imageBytes });
    const paths = await Promise.all(names.map((name) => images(put(name, twoPages))));
    const rendered = paths.map(get);
    assert.equal((await put('meanwhile', Buffer.from('x'))).status, 200);
    assert.deepEqual(new Set(await statuses(rendered)), new Set([200]));
    await close();
  });

  /** Bytes of the pages of `twoPages`. */
  async function pageBytes(): Promise<number> {
    const { put, images, get, close } = bounded({});
    const { data } = JSON.parse((await get(await images(put('a.pdf', twoPages)))).text);
    await close();
    return data.reduce((sum: number, { base64 }: { base64: string }) => sum + Buffer.from(base64, 'base64').length, 0);
  }

  it('count the pages that are rendered', async () => {
    const { put, images, get, close } = bounded({ totalBytes: twoPages.length * 2 + (await pageBytes()) + 100 });
    const paths = [await images(put('a.pdf', twoPages)), await images(put('b.pdf', twoPages))];
    assert.deepEqual(await statuses(paths.map(get)), [200, 503], 'room for the pages of one');
    assert.match((await put('c', Buffer.alloc(101, 1))).text, /FilesFull/);
    assert.equal((await put('d', Buffer.alloc(100, 1))).status, 200, 'pages take what they are');
    await close();
  });

  it('have the room again of pages that could not be rendered', async () => {
    const { put, images, get, kept, close } = bounded({ imageBytes: 10, totalBytes: twoPages.length + 10 });
    const path = await images(put('a.pdf', twoPages));
    for (let round = 0; round < 2; round += 1) assert.match((await get(path)).text, /ImagesTooLarge/);
    assert.deepEqual(kept(), []);
    assert.equal((await put('b', Buffer.alloc(10, 1))).status, 200);
    await close();
  });

  it('have the room again of pages that did not all fit', async () => {
    const room = (await pageBytes()) - 1;
    const { put, images, get, kept, close } = bounded({ totalBytes: twoPages.length + room });
    const path = await images(put('a.pdf', twoPages));
    for (let round = 0; round < 2; round += 1) {
      const full = await get(path);
      assert.deepEqual([full.status, /FilesFull/.test(full.text), Number(full.headers['retry-after']) > 0], [503, true, true]);
    }
    assert.deepEqual(kept(), []);
    assert.equal((await put('b', Buffer.alloc(room, 1))).status, 200);
    await close();
  });
});

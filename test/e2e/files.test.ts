import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import OpenAI, { toFile } from 'openai';
import { type DaemonUnderTest, startDaemon } from '../support/daemon.js';
import { drawn, pdf } from '../support/documents.js';
import { filesBelow } from '../support/files-below.js';
import { textImage } from '../support/vision/pictures.js';

/** Bytes of everything below a folder. */
function bytesBelow(folder: string): number {
  return filesBelow(folder).reduce((sum, path) => sum + statSync(join(folder, path)).size, 0);
}

/** The parsed body of an answer. */
// biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
const json = async (answer: Promise<Response>): Promise<any> => (await answer).json();

describe('files and OCR over sockets', () => {
  let daemon: DaemonUnderTest;
  let client: OpenAI;
  before(async () => {
    daemon = await startDaemon();
    client = new OpenAI({ apiKey: 'none', maxRetries: 0, baseURL: `${daemon.runtime}/v1` });
  });
  after(() => daemon.end('SIGKILL'));

  it('the official client leaves a file, finds it and removes it', async () => {
    const made = await client.files.create({ file: await toFile(Buffer.from('hello'), 'note.txt'), purpose: 'assistants' });
    assert.deepEqual(
      [made.filename, made.bytes, made.purpose, made.status, made.object],
      ['note.txt', 5, 'assistants', 'processed', 'file'],
    );
    assert.ok(Math.abs(made.created_at - Date.now() / 1000) < 60);
    const listed = [];
    for await (const file of await client.files.list()) listed.push(file.id);
    assert.deepEqual(listed, [made.id]);
    assert.equal((await client.files.retrieve(made.id)).bytes, 5);
    assert.deepEqual(await client.files.delete(made.id), { id: made.id, deleted: true, object: 'file' });
    await assert.rejects(
      client.files.retrieve(made.id),
      (error) => error instanceof OpenAI.NotFoundError && /File not found/.test(error.message),
    );
  });

  it('an upload that is too large is refused, and leaves nothing behind', async () => {
    const form = new FormData();
    form.set('file', new Blob([Buffer.alloc(101 * 1024 * 1024)]), 'big.bin');
    const answer = await fetch(`${daemon.runtime}/v1/files`, { method: 'POST', body: form });
    assert.equal(answer.status, 413);
    assert.match(await answer.text(), /File too large\. Maximum size is 100 MB/);
    assert.equal(bytesBelow(join(daemon.dataDir, 'uploads')), 0);
  });

  it('reads a PDF through the core and through the runtime, with the same text', async () => {
    const lines = [
      [18, 20, 'Receipt 1024'],
      [18, 24, 'Paid in full'],
    ] as const;
    const document = pdf([drawn(lines)]);
    const form = new FormData();
    form.set('file', new Blob([Buffer.from(document)]), 'receipt.pdf');
    const core = await json(fetch(`${daemon.core}/v1/vision/ocr`, { method: 'POST', body: form }));
    assert.deepEqual(
      [core.data[0].text, core.usage, core.model],
      ['Receipt 1024\nPaid in full', { images_processed: 1, pages_combined: 1 }, 'tesseract'],
    );
    const image = Buffer.from(await textImage(lines)).toString('base64');
    const asked = fetch(`${daemon.runtime}/v1/ocr`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ images: [image], languages: ['EN', 'eng'] }),
    });
    assert.equal((await json(asked)).data[0].text, core.data[0].text);
    const models = await json(fetch(`${daemon.runtime}/v1/models`));
    assert.deepEqual(
      models.data.map(({ id, type }: { id: string; type: string }) => [id, type]),
      [['tesseract', 'ocr_tesseract']],
    );
  });
});

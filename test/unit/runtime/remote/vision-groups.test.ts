import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { visionEndpoints } from '../../../../gateway/universal/vision.js';
import { setLogLevel } from '../../../../runtime/base/log.js';
import type { Files } from '../../../../runtime/files/files.js';
import { Outbound } from '../../../../runtime/net/outbound.js';
import type { Picture } from '../../../../runtime/pictures/picture.js';
import { RemoteVision } from '../../../../runtime/remote/vision.js';
import type { ExtractRequest, OcrRequest, VisionService } from '../../../../runtime/vision/contract.js';
import { Failure } from '../../../../schemas/errors.js';
import { emptyDataDir } from '../../../support/daemon.js';
import { listenOn } from '../../../support/vision/listen.js';

setLogLevel('error');
const never = new AbortController().signal;
const MIB = 1024 * 1024;

/** Reads a picture as its first byte and its length; the byte 255 is no picture. */
class Reader implements VisionService {
  /** How many pictures each request brought. */
  readonly groups: number[] = [];
  readonly prompts: (readonly string[])[] = [];
  during: (groups: number) => void = () => {};

  constructor(readonly name: string) {}

  async ocr({ pictures }: OcrRequest) {
    return { model: this.name, pages: this.#texts(pictures).map((text) => ({ text, confidence: 1, boxes: [] })), notes: ['a note'] };
  }

  async extract({ pictures, prompts }: ExtractRequest) {
    this.prompts.push(prompts);
    return this.#texts(pictures).map((text, index) => ({ confidence: 1, text, answer: prompts[index] ?? prompts[0] ?? 'unasked' }));
  }

  #texts(pictures: readonly Picture[]): string[] {
    this.groups.push(pictures.length);
    this.during(this.groups.length);
    return pictures.map(({ name, bytes }) => {
      if (bytes![0] === 255) throw new Failure('bad_request', `${name} is not an image that can be read.`, { code: 'BadImage' });
      return `${bytes![0]}:${bytes!.length}`;
    });
  }
}

/** Pictures of so many bytes, each of a value of its own, named as pages. */
const pages = (count: number, bytes: number): Picture[] =>
  Array.from({ length: count }, (_, index) => ({ name: `scan.pdf, page ${index + 1}`, bytes: Buffer.alloc(bytes, index % 200) }));
const textOf = ({ bytes }: Picture): string => `${bytes![0]}:${bytes!.length}`;

describe('pictures for a runtime elsewhere', () => {
  const outbound = new Outbound();
  const readers = [new Reader('one'), new Reader('two')];
  let listeners: Awaited<ReturnType<typeof listenOn>>[];
  let remote: RemoteVision;
  const sums = () => readers.map(({ groups }) => groups.reduce((sum, count) => sum + count, 0));
  const ocr = (pictures: readonly Picture[], signal = never) => remote.ocr({ model: 'tesseract', pictures, languages: [] }, signal);
  const extract = (pictures: readonly Picture[], prompts: readonly string[] = [], model = 'someone/donut') =>
    remote.extract({ model, task: 'vqa', pictures, prompts }, never);

  before(async () => {
    listeners = await Promise.all(readers.map((vision) => listenOn(visionEndpoints, { here: { vision }, files: {} as Files })));
  });
  beforeEach(() => {
    for (const reader of readers) {
      reader.groups.length = 0;
      reader.prompts.length = 0;
      reader.during = () => {};
    }
    remote = new RemoteVision(
      outbound,
      listeners.map(({ url }) => url),
    );
  });
  afterEach(() => assert.ok(readers.every(({ groups }) => groups.every((count) => count > 0))));
  after(async () => {
    await Promise.all(listeners.map(({ end }) => end()));
    await outbound.close();
  });

  it('may be more bytes than a request of it takes', async () => {
    const scanned = pages(12, 6.5 * MIB);
    const result = await ocr(scanned);
    assert.deepEqual(
      result.pages.map(({ text }) => text),
      scanned.map(textOf),
    );
    assert.deepEqual([result.model, result.notes], ['one', ['a note']]);
    const asked = await extract(scanned);
    assert.deepEqual(
      asked.map(({ text }) => text),
      scanned.map(textOf),
    );
  });

  it('may be more than a request of it takes', async () => {
    const many = pages(600, 10);
    const result = await ocr(many);
    assert.deepEqual(
      result.pages.map(({ text }) => text),
      many.map(textOf),
    );
    assert.ok(Math.max(...readers[0]!.groups) > 1, 'several go together');
    assert.equal((await extract(many)).length, 600);
  });

  it('are sent alone where they are large, from memory and from files', async () => {
    const path = join(emptyDataDir(), 'page.png');
    writeFileSync(path, Buffer.alloc(64 * MIB, 7));
    const result = await ocr([...pages(1, 10), { name: 'page.png', path }, ...pages(1, 10)]);
    assert.deepEqual(
      result.pages.map(({ text }) => text),
      ['0:10', `7:${64 * MIB}`, '0:10'],
    );
    assert.deepEqual(readers[0]!.groups, [1, 1, 1]);
  });

  it('are refused as in this process where they are larger than a picture may be, or empty', async () => {
    const [large, empty] = [Buffer.alloc(64 * MIB + 1), Buffer.alloc(0)];
    for (const [bytes, message] of [
      [large, /^a\.png has 67108865 bytes; an image may have 67108864\.$/],
      [empty, /^a\.png is empty\.$/],
    ] as const)
      for (const ask of [ocr, extract]) await assert.rejects(ask([{ name: 'a.png', bytes }]), { status: 400, code: 'BadImage', message });
    assert.deepEqual(sums(), [0, 0]);
  });

  it('are named as in this process where one of them is refused', async () => {
    const scanned = pages(100, 10);
    scanned[70] = { ...scanned[70]!, bytes: Buffer.from([255]) };
    for (const ask of [ocr, extract])
      await assert.rejects(ask(scanned), { status: 400, code: 'BadImage', message: /^scan\.pdf, page 71 is not an image/ });
    assert.ok(
      sums().every((count) => count < 100),
      'the first that is refused ends the rest',
    );
  });

  it('are sent no further when the caller leaves', async () => {
    const control = new AbortController();
    readers[0]!.during = (groups) => {
      if (groups === 2) control.abort();
    };
    await assert.rejects(ocr(pages(600, 10), control.signal), { name: 'AbortError' });
    assert.equal(readers[0]!.groups.length, 2);
  });

  it('are read by one runtime, and the next request by the next', async () => {
    await ocr(pages(100, 10));
    await ocr(pages(50, 10));
    await extract(pages(5, 10));
    assert.deepEqual(sums(), [105, 50]);
  });

  it('are read on by another where one goes away', async (test) => {
    const gone = await listenOn(visionEndpoints, { here: { vision: readers[0]! }, files: {} as Files });
    let ended: Promise<void> | undefined;
    test.after(() => ended ?? gone.end());
    remote = new RemoteVision(outbound, [gone.url, listeners[1]!.url]);

    readers[0]!.during = (groups) => {
      if (groups === 2) ended = gone.end();
    };
    const scanned = pages(100, 10);
    const result = await ocr(scanned);
    await ended;
    assert.deepEqual(
      result.pages.map(({ text }) => text),
      scanned.map(textOf),
    );
    assert.deepEqual([result.model, result.notes], ['one, two', ['a note']]);
  });

  it('each have their prompt, wherever it is sent', async () => {
    const answers = async (count: number, ...prompts: string[]) => (await extract(pages(count, 10), prompts)).map(({ answer }) => answer);
    assert.deepEqual(await answers(3, 'a', 'b', 'c'), ['a', 'b', 'c']);
    assert.deepEqual(await answers(3, 'a'), ['a', 'a', 'a']);
    assert.deepEqual(await answers(3, 'a', 'b'), ['a', 'b', 'unasked']);
    const long = Array.from({ length: 600 }, (_, index) => `question ${index}`);
    assert.deepEqual(await answers(600, ...long), long);
    const before = readers.flatMap(({ prompts }) => prompts).length;
    await assert.rejects(answers(1, 'a', 'b'), { status: 400, code: 'TooManyPrompts', message: /2 prompts came with 1 image;/ });
    await assert.rejects(extract(pages(2, 10), ['a', ' '], 'someone/layoutlm'), {
      status: 400,
      code: 'PromptMissing',
      message: /about scan\.pdf, page 2 is needed/,
    });
    assert.equal(readers.flatMap(({ prompts }) => prompts).length, before, 'no picture is looked at for nothing');
  });

  it('must each have an answer', async () => {
    const scanned = pages(3, 10);
    readers[0]!.ocr = async () => ({ model: 'one', pages: [], notes: [] });
    await assert.rejects(ocr(scanned), { status: 500, code: 'BadVisionAnswer', message: /0 answers came for 3 images/ });
    Reflect.deleteProperty(readers[0]!, 'ocr');
  });
});

import { isAscii } from 'node:buffer';
import { createHash, randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm, stat, statfs } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { addAbortSignal, type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { BusboyInstance } from '@fastify/busboy';
import { turn } from '../../runtime/base/loop.js';
import type { FormBody, UploadedFile } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { JsonSchema } from '../../schemas/files.js';
import { shapeOf } from '../../schemas/shapes.js';
import { coerced } from '../../schemas/validate.js';

/** One text field. */
const FIELD_BYTES = 1024 * 1024;
const MAX_FIELDS = 100;
const HEADER_BYTES = 16 * 1024;
const MAX_HEADERS = 32;
const MAX_NAME_CHARACTERS = 255;
/** Forms that may be read at the same time; each holds less than 2 MiB in memory. */
const MAX_FORMS = 256;
/** Of the whole body, for what stands around files and fields. */
const FRAMING_BYTES = 1024 * 1024;
/** Stays free on the disk of the uploads. */
const SPARE_BYTES = 16 * 1024 * 1024;
const PREFIX = 'upload-';

/** A form that was read: text fields as the schema has them, and files on disk. */
export interface ReceivedForm {
  readonly fields: unknown;
  readonly files: readonly UploadedFile[];
  /** Removes the files that were not moved away. */
  discard(): Promise<void>;
}

/** The largest body of a form, in bytes. */
export function formLimitBytes({ maxFiles, fileLimitBytes, fieldLimitBytes = FIELD_BYTES }: FormBody<never>): number {
  return maxFiles * fileLimitBytes + FRAMING_BYTES + fieldLimitBytes + (MAX_FIELDS - 1) * FIELD_BYTES;
}

/** What a folder's former process left behind is removed once, before its first use. */
const swept = new Map<string, Promise<void>>();

/** Reads forms. Files go to `folder` as they come, hashed on the way; nothing of a form that fails stays there. */
export class Forms {
  readonly #folder: string;
  #open = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Removes what an earlier process left behind; one process at a time uses a folder. */
  prepare(): Promise<void> {
    let done = swept.get(this.#folder);
    if (!done) {
      done = this.#sweep();
      // A disk that refuses now may accept later.
      done.catch(() => swept.delete(this.#folder));
      swept.set(this.#folder, done);
    }
    return done;
  }

  /** Reads `body` to its end. Throws `unsupported_type`, `bad_request` (too many files), `too_large`, `invalid`, `disk_full`, `busy`. */
  async receive(body: Readable, head: { type: string; length: string }, shape: FormBody<never>): Promise<ReceivedForm> {
    if (this.#open >= MAX_FORMS) {
      body.destroy();
      throw new Failure('busy', `${MAX_FORMS} uploads are running already. Try again later.`, { retryAfterS: 1 });
    }
    this.#open += 1;
    const reading = new Reading(this.#folder, shape);
    try {
      if (body.errored) throw body.errored;
      await this.prepare();
      await this.#checkSpace(Number(head.length));
      return await reading.run(body, head.type);
    } catch (error) {
      body.destroy();
      await reading.discard();
      throw error;
    } finally {
      this.#open -= 1;
    }
  }

  async #checkSpace(bytes: number): Promise<void> {
    const { bavail, bsize } = await statfs(this.#folder);
    const free = bavail * bsize;
    if (free >= (bytes || 0) + SPARE_BYTES) return;
    throw new Failure(
      'disk_full',
      `The upload has ${bytes || 'unknown'} bytes and the disk ${free} free ones. Free some space and try again.`,
    );
  }

  async #sweep(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    for (const name of await readdir(this.#folder)) if (name.startsWith(PREFIX)) await rm(join(this.#folder, name), { force: true });
  }
}

/** One form on its way to the disk. */
class Reading implements ReceivedForm {
  fields: unknown;
  readonly files: UploadedFile[] = [];
  readonly #folder: string;
  readonly #shape: FormBody<never>;
  readonly #members: ReadonlyMap<string, 'one' | 'many'>;
  readonly #texts: Record<string, string | string[]> = {};
  readonly #saving: Promise<void>[] = [];
  readonly #paths: string[] = [];
  readonly #stop = new AbortController();
  #fileCount = 0;
  #fieldCount = 0;
  #failure: unknown;

  constructor(folder: string, shape: FormBody<never>) {
    this.#folder = folder;
    this.#shape = shape;
    // Each file of the form listens.
    setMaxListeners(0, this.#stop.signal);
    this.#members = fileMembers(shapeOf(shape.form)[1]);
  }

  async run(body: Readable, type: string): Promise<ReceivedForm> {
    const parser = this.#parser(type);
    try {
      await pipeline(body, parser, { signal: this.#stop.signal });
    } catch (error) {
      this.#fail(error);
    }
    await Promise.all(this.#saving);
    if (this.#failure !== undefined) throw readable(this.#failure);
    this.fields = this.#checked();
    return this;
  }

  async discard(): Promise<void> {
    await Promise.all(this.#saving);
    for (const path of this.#paths) await rm(path, { force: true }).catch(() => undefined);
  }

  #parser(type: string): BusboyInstance {
    if (!/^multipart\/form-data\s*;/i.test(type)) {
      const got = type === '' ? 'None was given' : `Got ${JSON.stringify(type.slice(0, 100))}`;
      throw new Failure('unsupported_type', `The body must be a form. ${got}: send "multipart/form-data" with its boundary.`);
    }
    const { maxFiles, fileLimitBytes } = this.#shape;
    // Read at the first upload, so that a start does not wait for it.
    const { Busboy } = createRequire(import.meta.url)('@fastify/busboy') as typeof import('@fastify/busboy');
    let parser: BusboyInstance;
    try {
      parser = new Busboy({
        headers: { 'content-type': type },
        highWaterMark: 256 * 1024,
        fileHwm: 256 * 1024,
        limits: {
          // Text fields come as streams, too: a field of many megabytes at once would hold the event loop.
          files: MAX_FIELDS + maxFiles,
          parts: MAX_FIELDS + maxFiles,
          fileSize: fileLimitBytes,
          headerPairs: MAX_HEADERS,
          headerSize: HEADER_BYTES,
        },
        preservePath: true,
        isPartAFile: () => true,
      });
    } catch (cause) {
      throw new Failure('invalid', 'The form has no boundary in its content type.', { cause });
    }
    parser.on('file', (field, content, name: string | undefined, _encoding, mimeType) => {
      content.on('error', (error) => this.#fail(error));
      if (this.#isTooMany(name !== undefined)) content.resume();
      else if (name === undefined) this.#saving.push(this.#text(bareField(field), content).catch((error: unknown) => this.#fail(error)));
      else this.#file(bareField(field), content, name, mimeType);
    });
    parser.on('partsLimit', () => this.#fail(tooManyFields()));
    return parser;
  }

  /** Counts a part; whether the form has more of its kind than it may. */
  #isTooMany(isFile: boolean): boolean {
    const { maxFiles } = this.#shape;
    if (isFile) this.#fileCount += 1;
    else this.#fieldCount += 1;
    if (this.#fieldCount > MAX_FIELDS) this.#fail(tooManyFields());
    if (this.#fileCount > maxFiles)
      this.#fail(
        new Failure('bad_request', `A form may have at most ${maxFiles} files here, and this one has more; send several requests.`),
      );
    return this.#failure !== undefined;
  }

  async #text(field: string, content: Readable): Promise<void> {
    const limitBytes = this.#shape.fieldLimitBytes ?? FIELD_BYTES;
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    // A form that ends too early does not end its fields.
    for await (const chunk of addAbortSignal(this.#stop.signal, content) as AsyncIterable<Buffer>) {
      sizeBytes += chunk.length;
      if (sizeBytes > limitBytes)
        throw new Failure('too_large', `Field ${JSON.stringify(field)} may have ${limitBytes} bytes; it has more.`);
      chunks.push(chunk);
    }
    if (field === '__proto__' || this.#members.has(field)) return;
    const value = await textOf(field, chunks);
    const before = this.#texts[field];
    if (before === undefined || !Object.hasOwn(this.#texts, field)) this.#texts[field] = value;
    else this.#texts[field] = [...[before].flat(), value];
  }

  #file(field: string, content: Readable, given: string, mimeType: string): void {
    if (!this.#members.has(field) || this.#failure !== undefined) {
      content.resume();
      return;
    }
    const { name, folder } = partsOf(given);
    content.on('limit', () => {
      const limit = this.#shape.fileLimitBytes;
      this.#fail(
        new Failure('too_large', `File too large. Maximum size is ${inMebibytes(limit)} MB; ${JSON.stringify(name)} has more.`, {
          code: 'FileTooLarge',
        }),
      );
    });
    const path = join(this.#folder, PREFIX + randomBytes(12).toString('hex'));
    this.#paths.push(path);
    const place = this.#saving.length;
    const saving = this.#save(content, path).then(
      (saved) => {
        // A browser sends an empty file without a name for an input that was left alone.
        if (given !== '' || saved.sizeBytes > 0)
          this.files[place] = { field, name, ...(folder ? { folder } : {}), mimeType, path, ...saved };
      },
      (error: unknown) => this.#fail(error),
    );
    this.#saving.push(saving);
  }

  async #save(content: Readable, path: string): Promise<{ sizeBytes: number; sha256: string }> {
    const hash = createHash('sha256');
    const tap = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        hash.update(chunk);
        done(null, chunk);
      },
    });
    // `flush` waits for the disk before it closes the file.
    await pipeline(content, tap, createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }), { signal: this.#stop.signal });
    return { sizeBytes: (await stat(path)).size, sha256: hash.digest('hex') };
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#stop.abort();
  }

  /** The text fields after the schema has seen the whole form, each file as its name. */
  #checked(): unknown {
    // Leaves out the places of empty inputs.
    const files = this.files.splice(0).filter(Boolean);
    this.files.push(...files);
    // A browser sends the inputs that were left alone as empty texts.
    const { required = [] } = shapeOf(this.#shape.form)[1] as { required?: readonly string[] };
    const given = Object.entries(this.#texts).filter(([name, text]) => text !== '' || required.includes(name));
    const value: Record<string, unknown> = Object.fromEntries(given);
    for (const [member, count] of this.#members) {
      const names = files.filter(({ field }) => field === member).map(({ name }) => name);
      if (names.length > 0) value[member] = count === 'many' ? names : names[0];
    }
    const fields = coerced<Record<string, unknown>>(this.#shape.form, value, 'body');
    for (const member of this.#members.keys()) delete fields[member];
    return fields;
  }
}

function tooManyFields(): Failure {
  return new Failure('too_large', `A form may have ${MAX_FIELDS} fields; this one has more.`);
}

/** The text of a field. A longer one than a usual field may have is decoded at once only where that is a mere copy: base64 is ASCII. */
async function textOf(field: string, chunks: readonly Buffer[]): Promise<string> {
  const bytes = Buffer.concat(chunks);
  if (bytes.length <= FIELD_BYTES) return bytes.toString();
  await turn();
  if (!isAscii(bytes))
    throw new Failure(
      'invalid',
      `Field ${JSON.stringify(field)} has ${bytes.length} bytes; one of more than ${FIELD_BYTES} must be ASCII.`,
    );
  return bytes.toString('latin1');
}

/** The members of a form's schema that are files. */
function fileMembers(schema: JsonSchema): Map<string, 'one' | 'many'> {
  const found = new Map<string, 'one' | 'many'>();
  for (const [name, member] of Object.entries((schema.properties as Record<string, JsonSchema>) ?? {})) {
    if (member.format === 'binary') found.set(name, 'one');
    else if ((member.items as JsonSchema | undefined)?.format === 'binary') found.set(name, 'many');
  }
  return found;
}

function bareField(field: string): string {
  return field.endsWith('[]') ? field.slice(0, -2) : field;
}

/** 100 MiB as "100", less than half a one with as many digits as it needs. */
function inMebibytes(bytes: number): string {
  return String(Number((bytes / 1024 / 1024).toPrecision(3)));
}

/** A name without control characters, within the longest that is kept. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
  return text.replace(/[\u0000-\u001f\u007f]/g, '').slice(0, MAX_NAME_CHARACTERS);
}

/** A file name as the client sends it, apart from the folders before it. These name nothing on this machine. */
function partsOf(given: string): { name: string; folder: string } {
  const parts = given.replaceAll('\\', '/').split('/').map(printable);
  const name = parts.pop()!;
  const folders: string[] = [];
  for (const part of parts) {
    if (part === '..') folders.pop();
    else if (part !== '' && part !== '.') folders.push(part);
  }
  return { name: name === '' || name === '.' || name === '..' ? 'file' : name, folder: printable(folders.join('/')) };
}

/** Turns what the parser says about a broken form into a failure of the caller. */
function readable(error: unknown): unknown {
  if (error instanceof Failure || !(error instanceof Error) || 'code' in error || error.name === 'AbortError') return error;
  return new Failure('invalid', `The form cannot be read: ${error.message}.`, { cause: error });
}

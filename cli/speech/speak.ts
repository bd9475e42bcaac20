import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { Failure } from '../../schemas/errors.js';
import type { VoiceList } from '../../schemas/generated/universal/speech.js';
import { withDaemon } from '../daemon/client.js';
import { Interrupted } from '../interrupt.js';
import { numberOf, type Run, textOf } from '../verb.js';

const DEFAULT_FILE = 'speech.wav';
const FORMATS = new Set(['wav', 'mp3', 'opus', 'aac', 'flac', 'pcm']);

/** Speaks a text into a file, or to standard output where the file is `-`. Without words the text comes from standard input. */
export const speak: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const { out, words } = call;
    const said = words.length > 0 ? words.join(' ') : call.input.isTTY ? '' : (await readAll(call.input)).trim();
    if (said === '') throw new Failure('bad_request', 'there is nothing to say: give words, or text on standard input.');
    const path = textOf(call, 'output') ?? DEFAULT_FILE;
    const format = textOf(call, 'format') ?? (extname(path).slice(1) || 'wav');
    if (!FORMATS.has(format))
      throw new Failure('bad_request', `speech is written as ${[...FORMATS].join(', ')}, not "${format}": name one with --format.`);
    const json = {
      input: said,
      response_format: format,
      voice: textOf(call, 'voice'),
      model: textOf(call, 'model'),
      speed: numberOf(call, 'speed'),
    };
    const reply = await daemon.reply('/v1/audio/speech', { api: 'runtime', json, headers: { accept: '*/*' } });
    if (path === '-') {
      for await (const chunk of reply.chunks()) await out.bytes(chunk);
      return undefined;
    }
    const bytes = await save(path, reply.chunks());
    return { result: { file: path, format, bytes }, show: () => out.line(`${path} (${bytes} bytes)`) };
  });

/** The voices that can be named. */
export const voices: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const list = await daemon.ask<VoiceList>('/v1/audio/voices', { api: 'runtime' });
    return {
      result: list,
      show: () =>
        call.out.table(
          ['VOICE', 'NAME', 'LANGUAGE', 'MODEL'],
          list.data.map(({ id, name, language, model }) => [id, name, language, model]),
        ),
    };
  });

/** Writes a file as its bytes come; what was there before stays until the new one is whole. Devices and pipes get the bytes at once. Resolves to their number. */
async function save(path: string, chunks: AsyncIterable<Uint8Array>): Promise<number> {
  const { pipeline } = await import('node:stream/promises');
  const isFile = (await stat(path).catch(() => null))?.isFile() ?? true;
  const partial = isFile ? `${path}.${process.pid}.part` : path;
  const file = createWriteStream(partial);
  try {
    await pipeline(chunks, file);
    if (isFile) await rename(partial, path);
    return file.bytesWritten;
  } catch (cause) {
    if (isFile) await rm(partial, { force: true });
    if (cause instanceof Failure || cause instanceof Interrupted) throw cause;
    throw new Failure('unavailable', `${path} cannot be written: ${(cause as Error).message}`, { cause });
  }
}

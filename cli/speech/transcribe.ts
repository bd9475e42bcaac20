import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import type { Transcription } from '../../schemas/generated/universal/transcriptions.js';
import { formOf, withDaemon } from '../daemon/client.js';
import { withoutControls } from '../output.js';
import { type Run, textOf } from '../verb.js';

/** Formats that the daemon writes as text, ready for a file. */
const TEXT_FORMATS = new Set(['text', 'srt', 'vtt']);

/** Whichever model of speech to text is here; the largest of several. */
const LARGEST_HERE = 'whisper-1';

/** Writes down what is said in a recording; `--translate` gives it in English. */
export const transcribe: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const [path = ''] = call.words;
    if (!(await stat(path).catch(() => null))?.isFile()) throw new Failure('not_found', `there is no file ${path}.`);
    const format = call.out.isJson ? 'verbose_json' : (textOf(call, 'format') ?? 'text');
    if (!TEXT_FORMATS.has(format) && format !== 'verbose_json')
      throw new Failure('bad_request', `transcripts are written as ${[...TEXT_FORMATS].join(', ')}, or with --json; not as "${format}".`);
    const fields = Object.entries({
      model: textOf(call, 'model') ?? LARGEST_HERE,
      language: textOf(call, 'language'),
      response_format: format,
    }).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const { body, headers } = formOf(Object.fromEntries(fields), { field: 'file', name: basename(path), content: createReadStream(path) });
    const at = call.flags.translate === true ? '/v1/audio/translations' : '/v1/audio/transcriptions';
    const text = await (await daemon.reply(at, { api: 'runtime', body, headers: { ...headers, accept: '*/*' } })).text();
    return {
      result: call.out.isJson ? (JSON.parse(text) as Transcription) : text,
      show: () => call.out.line(withoutControls(text).trimEnd()),
    };
  });

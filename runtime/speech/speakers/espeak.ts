import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Failure } from '../../../schemas/errors.js';
import { once } from '../../base/once.js';
import type { Voice } from '../contract.js';
import type { Speaker } from './contract.js';

const MODEL = 'espeak-ng';
const SIZE_BYTES = 64 * 1024 * 1024;
const LIST_LIMIT_MS = 5_000;
/** A line of the program's list: priority, language, age and sex, name, file. Voices in `mb/` need other programs. */
const LINE = /^\s*\d+\s+([a-z]{2,3}(?:-[a-z0-9-]{1,20})?)\s+\S+\s+(\S+)\s+(?!mb\/)\S+/i;

/** The voices of the program on this machine, one for each language; none where it is not installed. Asked for once in a process. */
const voicesOfProgram = once(
  (): Promise<readonly Voice[]> =>
    promisify(execFile)(MODEL, ['--voices'], { timeout: LIST_LIMIT_MS }).then(
      ({ stdout }) => {
        const voices = new Map<string, Voice>();
        for (const line of stdout.split('\n')) {
          const [, language, name] = LINE.exec(line) ?? [];
          if (language !== undefined && !voices.has(language))
            voices.set(language, { id: language, name: name!.replaceAll('_', ' '), language, model: MODEL });
        }
        return [...voices.values()];
      },
      () => [],
    ),
);

/** Whether the program is on the PATH of this daemon. */
export const espeakIsHere = async (): Promise<boolean> => (await voicesOfProgram()).length > 0;

/** Other languages than English, where the program is installed: each voice is called by its language, such as `de`. */
export const espeak: Speaker = {
  model: MODEL,
  answers: () => false,
  voices: voicesOfProgram,
  find: async (_model, voice) => {
    const voices = await voicesOfProgram();
    if (voices.length === 0)
      throw new Failure(
        'not_found',
        `Model "${MODEL}" needs the program ${MODEL} on the PATH: install it (Debian: apt install ${MODEL}) and start the daemon again.`,
        {
          code: 'ModelNotFound',
        },
      );
    if (!voices.some(({ id }) => id === voice))
      throw new Failure('not_found', `Model "${MODEL}" has no voice "${voice}"; GET /v1/audio/voices?model=${MODEL} lists its languages.`, {
        code: 'VoiceNotFound',
      });
    return {
      engine: MODEL,
      voice,
      key: `tts:${MODEL}:en`,
      name: MODEL,
      files: { folder: null, graph: null },
      sizeBytes: SIZE_BYTES,
      notes: [],
    };
  },
};

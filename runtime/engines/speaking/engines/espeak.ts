import { execFile } from 'node:child_process';
import { loadCore } from '../../../../native/loader.js';
import { Failure } from '../../../../schemas/errors.js';
import { type Saying, type Sound, SPEECH_RATE, type VoiceEngine } from '../../contracts/speaking.js';
import { pushAll } from '../samples.js';
import { planText } from '../text/plan.js';

const PROGRAM = 'espeak-ng';
/** Words a minute at speed 1. */
const USUAL_PACE = 175;
const WAV_HEAD = 44;
const RATE_AT = 24;
const LIMIT_MS = 30_000;
const LIMIT_BYTES = 64 * 1024 * 1024;

/** The program espeak-ng of this machine, which speaks a hundred languages; one run for each phrase. */
export async function openEspeak(): Promise<VoiceEngine> {
  await run(['--version'], '');
  return {
    devices: { requested: 'cpu', available: ['cpu'], used: ['cpu'], why: null },
    speeds: [0.5, 2.5],
    plan: planText,
    say,
    close: () => {},
  };
}

async function say({ script, voice, speed }: Saying): Promise<Sound> {
  const wav = await run(['--stdin', '--stdout', '-b', '1', '-v', voice, '-s', String(Math.round(USUAL_PACE * speed))], script);
  if (wav.length <= WAV_HEAD) throw new Failure('model_failed', `${PROGRAM} made no sound in the voice ${voice}.`);
  const resampler = loadCore().openResampler(wav.readUInt32LE(RATE_AT), SPEECH_RATE);
  return { samples: pushAll(resampler, loadCore().decodeSamples(wav.subarray(WAV_HEAD), 's16', 1)) };
}

/** Marks that are heard, which the program leaves out of its symbols. */
const MARKS = /[,;:.!?…—]+/g;
/** What it puts around words that it says in another language, and between symbols. */
const NOTES = /\([a-z-]{2,12}\)|[\u200d_]/g;

/** The symbols of sounds of a text in one of the program's voices, with the marks of the text between its parts. */
export async function espeakSymbols(text: string, voice: string): Promise<string> {
  const printed = (await run(['--stdin', '-q', '-b', '1', '--ipa', '-v', voice], text)).toString('utf8');
  const parts = printed.split('\n').map((line) => line.replace(NOTES, '').trim());
  const spoken = parts.filter((part) => part !== '');
  const marks = text.match(MARKS) ?? [];
  return spoken.map((part, at) => `${part}${marks.at(at === spoken.length - 1 ? -1 : at)?.[0] ?? ''}`).join(' ');
}

function run(args: readonly string[], text: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = execFile(PROGRAM, args, { encoding: 'buffer', timeout: LIMIT_MS, maxBuffer: LIMIT_BYTES }, (error, output) => {
      if (error) reject(new Failure('unavailable', `The program ${PROGRAM} could not speak.`, { cause: error }));
      else resolve(output);
    });
    // One that ends before it has read everything says so by its code.
    child.stdin!.on('error', () => {});
    child.stdin!.end(text);
  });
}

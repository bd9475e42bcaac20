// The build as a list of steps, each of which does nothing when its inputs have not changed since it last succeeded.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const root = join(import.meta.dirname, '..');
const web = join(root, 'web');
const LEAST_NODE = [20, 19];

/** Ends the script with one line that says what is wrong and how to mend it. */
function stop(message) {
  process.stderr.write(`quern: ${message}\n`);
  process.exit(1);
}

/** Every file below the given paths (relative to the root), sorted. */
function filesBelow(paths) {
  const visit = (path) => {
    const stat = statSync(join(root, path), { throwIfNoEntry: false });
    if (!stat) return [];
    if (!stat.isDirectory()) return [path];
    return (
      readdirSync(join(root, path))
        // The schemas step makes these types; generated C++ is kept in the tree.
        .filter((name) => !(name === 'generated' && path === 'schemas') && name !== 'node_modules')
        .flatMap((name) => visit(join(path, name)))
    );
  };
  return paths.flatMap(visit).sort();
}

/** A hash over the contents of the inputs and the Node version, so that a fresh checkout and a touched file cost nothing. */
function fingerprint(inputs, keep) {
  const hash = createHash('sha256').update(process.versions.modules);
  for (const file of filesBelow(inputs).filter(keep))
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(root, file)))
      .update('\0');
  return hash.digest('hex');
}

/** Runs a command, shows its output only when it fails, and reports the seconds meanwhile. */
async function run(label, command, args, options = {}) {
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  process.stderr.write(`quern: ${label} ...\n`);
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], ...options });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const ticking = setInterval(() => process.stderr.write(`quern: ${label} ... ${seconds()} s\n`), 10_000);
  const code = await new Promise((resolve) => {
    child.on('error', (error) => {
      output += error.message;
      resolve(1);
    });
    child.on('close', resolve);
  });
  clearInterval(ticking);
  if (code !== 0) {
    process.stderr.write(output.endsWith('\n') ? output : `${output}\n`);
    stop(`${label} failed (see above).`);
  }
  process.stderr.write(`quern: ${label} done in ${seconds()} s\n`);
}

/** ONNX Runtime's package carries its library for every system; those of the others would be 250 MB that nobody loads. */
export function dropOtherSystems() {
  const folder = join(root, 'node_modules/onnxruntime-node/bin');
  for (const version of existsSync(folder) ? readdirSync(folder) : [])
    for (const system of readdirSync(join(folder, version)))
      for (const processor of readdirSync(join(folder, version, system)))
        if (system !== process.platform || processor !== process.arch)
          rmSync(join(folder, version, system, processor), { recursive: true });
}

/** What each step reads, and how it runs. `keep` picks the files that count among the inputs. */
const STEPS = [
  {
    name: 'install',
    inputs: ['package.json', 'package-lock.json'],
    made: 'node_modules/lmdb',
    run: async () => {
      await run('installing packages (npm ci)', 'npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund']);
      dropOtherSystems();
    },
  },
  {
    name: 'typescript',
    inputs: [
      'package-lock.json',
      'tsconfig.json',
      'scripts/schemas.mjs',
      'scripts/validators.mjs',
      'scripts/bundle.mjs',
      'schemas',
      'native',
      'runtime',
      'gateway',
      'accounts',
      'cli',
      'models',
      'bench',
      'test',
    ],
    keep: (file) => /\.(ts|json|mjs)$/.test(file),
    made: 'build/bundle/main.js',
    needs: 'node_modules/esbuild',
    run: async () => {
      await run('generating types and validators from the schemas', process.execPath, ['scripts/schemas.mjs']);
      await run('compiling TypeScript', process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.']);
      await run('declaring the types of quern/accounts', process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'accounts']);
      await run('packing the daemon', process.execPath, ['scripts/bundle.mjs']);
    },
  },
  {
    name: 'web-install',
    inputs: ['web/package.json', 'web/package-lock.json'],
    made: 'web/node_modules/vite',
    run: () =>
      run('installing what builds the web interface (npm ci)', 'npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: web }),
  },
  {
    name: 'web',
    inputs: ['web'],
    made: 'build/web/index.html',
    run: () => run('building the web interface', process.execPath, ['node_modules/vite/bin/vite.js', 'build'], { cwd: web }),
  },
  {
    name: 'native',
    inputs: ['package-lock.json', 'CMakeLists.txt', 'scripts/native.mjs', 'native'],
    keep: (file) => !file.endsWith('.ts'),
    made: 'build/native/Release/quern_inference.node',
    needs: 'node_modules/cmake-js',
    run: () => passThrough(process.execPath, ['scripts/native.mjs']),
  },
  {
    name: 'models',
    inputs: ['models'],
    made: 'build/models/quern-standin.gguf',
    run: () => run('making the built-in model', process.execPath, ['build/models/build.js', 'build/models']),
  },
];

/** Runs a script that reports its own progress and failures. */
function passThrough(command, args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
  if (status !== 0) process.exit(1);
}

/** Brings the tree up to date: packages, types, compiled TypeScript, the addon, the built-in model. */
export async function build() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < LEAST_NODE[0] || (major === LEAST_NODE[0] && minor < LEAST_NODE[1]))
    stop(`Node ${process.versions.node} is too old: install Node ${LEAST_NODE.join('.')} or newer (20, 22 or 24 LTS).`);
  for (const step of STEPS) {
    // The stamp of the installed packages lives with them: removing node_modules removes it too.
    const stamp = join(root, step.name === 'install' ? 'node_modules/.quern-installed' : `build/.stamps/${step.name}`);
    const wanted = fingerprint(step.inputs, step.keep ?? (() => true));
    const current = existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';
    if (current === wanted && existsSync(join(root, step.made))) continue;
    if (step.needs && !existsSync(join(root, step.needs))) {
      // A production install has no compiler packages: what was built before it stays in use.
      if (existsSync(join(root, step.made))) continue;
      stop(`${step.made} is not built, and building needs ${step.needs}: run npm ci (without --omit=dev), then npm start.`);
    }
    if (step.name === 'install' && current === '' && existsSync(join(root, step.made)) && installedMatches()) {
      writeFileSync(stamp, wanted);
      continue;
    }
    await step.run();
    mkdirSync(dirname(stamp), { recursive: true });
    writeFileSync(stamp, wanted);
  }
}

/** True when the packages that npm installed (by hand, perhaps without the dev ones) are those of the lock file. */
function installedMatches() {
  try {
    const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
    const installed = JSON.parse(readFileSync(join(root, 'node_modules/.package-lock.json'), 'utf8')).packages;
    return Object.entries(installed).every(([path, entry]) => locked[path]?.version === entry.version);
  } catch {
    return false;
  }
}

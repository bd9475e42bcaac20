// Builds the native addons into build/native/Release, offline, and only when something that it is made of has changed.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const output = join(root, 'build/native');
const addons = ['quern_core', 'quern_inference'].map((name) => join(output, `Release/${name}.node`));
const headers = join(output, 'llama-headers');
/** Where packages lie: in a clone; those that scripts/source-build.mjs fetched; beside us, where we are an installed package ourselves. */
const homes = [join(root, 'node_modules'), join(root, 'build/kit/node_modules'), join(root, '..')];
const packageFolder = (name) => homes.map((home) => join(home, name)).find(existsSync) ?? join(homes[0], name);
const whisper = join(packageFolder('@fugood/whisper.node'), 'whisper.cpp');
/** The headers that are taken from llama.cpp's source: its interface, and what the Q8_0 kernel needs to enter the CPU backend. */
const HEADERS = ['include', 'ggml/include', 'ggml/src/*.h'];
const PLATFORM_PACKAGES = {
  'linux-x64': 'linux-x64',
  'linux-arm64': 'linux-arm64',
  'linux-arm': 'linux-armv7l',
  'darwin-arm64': 'mac-arm64-metal',
  'darwin-x64': 'mac-x64',
};

/** Ends the script with one line that says what is wrong and how to mend it. */
function stop(message) {
  process.stderr.write(`quern: ${message}\n`);
  process.exit(1);
}

/** Git variables of a surrounding hook would point the commands below at another repository. */
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')));

/** Runs a command, shows its output only when it fails, and reports the seconds meanwhile. */
async function run(label, command, args) {
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  process.stderr.write(`quern: ${label} ...\n`);
  const child = spawn(command, args, { cwd: root, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
  const ticking = setInterval(() => process.stderr.write(`quern: ${label} ... ${seconds()} s\n`), 10_000);
  const code = await new Promise((resolve) => {
    child.on('error', (error) => {
      text += error.message;
      resolve(1);
    });
    child.on('close', resolve);
  });
  clearInterval(ticking);
  if (code === 0) return process.stderr.write(`quern: ${label} done in ${seconds()} s\n`);
  process.stderr.write(text.endsWith('\n') ? text : `${text}\n`);
  stop(`${label} failed (see above).`);
}

const works = (command) => spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;

/** Names in one message everything that is missing. */
function requireTools() {
  const compilers = process.env.CXX ? [process.env.CXX] : ['c++', 'g++', 'clang++'];
  const missing = [];
  if (!compilers.some(works)) missing.push('a C++ compiler');
  for (const tool of ['cmake', 'git']) if (!works(tool)) missing.push(tool);
  if (missing.length === 0) return;
  stop(
    `the native addon needs ${missing.join(' and ')}, which ${missing.length === 1 ? 'is' : 'are'} not installed.\n` +
      '  Debian, Ubuntu:  sudo apt install g++ cmake git make\n' +
      '  Fedora:          sudo dnf install gcc-c++ cmake git make\n' +
      '  macOS:           xcode-select --install && brew install cmake',
  );
}

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

/** The folder of the prebuilt engine and its llama.cpp tag; both come from node-llama-cpp and must agree. */
function findEngine() {
  const platform = `${process.platform}-${process.arch}`;
  const name = PLATFORM_PACKAGES[platform];
  if (!name)
    stop(
      `the inference engine cannot be built for ${platform}. It runs on ${Object.keys(PLATFORM_PACKAGES).join(', ')}; on Windows use WSL 2.`,
    );
  const libraries = join(packageFolder(`@node-llama-cpp/${name}`), 'bins', name);
  const source = join(packageFolder('node-llama-cpp'), 'llama');
  if (!existsSync(libraries) || !existsSync(join(source, 'gitRelease.bundle')))
    stop(`the package @node-llama-cpp/${name} or node-llama-cpp is not installed: run npm ci (without --omit=optional).`);
  const tag = readJson(join(source, 'llama.cpp.info.json')).tag;
  const built = readJson(join(libraries, '_nlcBuildMetadata.json')).buildOptions.llamaCpp.release;
  if (tag !== built)
    stop(
      `@node-llama-cpp/${name} was built from llama.cpp ${built}, but node-llama-cpp carries ${tag}: run npm ci to install the pinned versions.`,
    );
  return { libraries, bundle: join(source, 'gitRelease.bundle'), tag };
}

/** Hash over everything that the addons are made of. */
function fingerprint(tag) {
  const hash = createHash('sha256').update(`${process.versions.modules} ${process.platform} ${process.arch} ${tag}`);
  const sources = readdirSync(join(root, 'native'), { recursive: true })
    .filter((name) => /\.(cpp|hpp)$/.test(name))
    .map((name) => join('native', name))
    .sort();
  const packages = ['node-addon-api', 'node-api-headers', 'cmake-js', 'node-llama-cpp', '@fugood/whisper.node'];
  for (const name of packages) hash.update(`\0${name}\0`).update(readFileSync(join(packageFolder(name), 'package.json')));
  for (const file of ['CMakeLists.txt', 'scripts/native.mjs', ...sources])
    hash.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

/** Takes llama.cpp's headers out of the git bundle in node-llama-cpp. */
async function extractHeaders({ bundle, tag }) {
  const mark = join(headers, 'TAG');
  const content = `${tag}: ${HEADERS.join(' ')}`;
  if (existsSync(mark) && readFileSync(mark, 'utf8') === content) return;
  const repository = join(output, 'llama.git');
  rmSync(repository, { recursive: true, force: true });
  rmSync(headers, { recursive: true, force: true });
  mkdirSync(headers, { recursive: true });
  await run(`extracting the headers of llama.cpp ${tag}`, 'git', ['clone', '--quiet', '--bare', bundle, repository]);
  const checkout = ['--git-dir', repository, '--work-tree', headers, 'checkout', '--quiet', 'HEAD', '--', ...HEADERS];
  const { status, stderr } = spawnSync('git', checkout, { env: environment, encoding: 'utf8' });
  if (status !== 0) stop(`the headers cannot be read from ${bundle}: ${stderr.trim()}`);
  rmSync(repository, { recursive: true, force: true });
  writeFileSync(mark, content);
}

const includeFolders = () => [join(packageFolder('node-api-headers'), 'include'), packageFolder('node-addon-api')];

/** CMake refuses a cache that was made in another place. */
function dropForeignCache(folder) {
  const cache = join(folder, 'CMakeCache.txt');
  if (!existsSync(cache)) return;
  const home = /^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$/m.exec(readFileSync(cache, 'utf8'))?.[1];
  if (home !== root) rmSync(folder, { recursive: true, force: true });
}

// The tools are looked for before anything is fetched for a build.
if (process.argv.includes('--tools')) {
  requireTools();
  process.exit(0);
}
const engine = findEngine();
if (!existsSync(join(whisper, 'src/whisper.cpp')))
  stop('the sources of whisper.cpp, in the package @fugood/whisper.node, are not installed: run npm ci (without --omit=dev).');
const stamp = join(output, 'addon.stamp');
const wanted = fingerprint(engine.tag);
if (!(addons.every(existsSync) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted)) {
  requireTools();
  mkdirSync(output, { recursive: true });
  await extractHeaders(engine);
  const folder = join(output, 'cmake');
  dropForeignCache(folder);
  const settings = [
    `--CDQUERN_LLAMA_LIBS=${engine.libraries}`,
    `--CDQUERN_LLAMA_HEADERS=${headers}`,
    `--CDQUERN_LLAMA_TAG=${engine.tag}`,
    `--CDQUERN_WHISPER_SOURCE=${whisper}`,
  ];
  // cmake-js would take whatever version of the second lies beside us.
  if (!existsSync(join(homes[0], 'cmake-js'))) settings.push(`--CDCMAKE_JS_INC=${includeFolders().join(';')}`);
  const cmakeJs = (verb) => [join(packageFolder('cmake-js'), 'bin/cmake-js'), verb, '--out', folder, ...settings];
  await run('configuring the native addons', process.execPath, cmakeJs('configure'));
  await run('compiling the native addons', process.execPath, [...cmakeJs('build'), '--parallel', String(availableParallelism())]);
  writeFileSync(stamp, wanted);
  // The file that describes the addons of a package is wrong for these, and goes.
  rmSync(join(output, 'prebuilt.json'), { force: true });
}

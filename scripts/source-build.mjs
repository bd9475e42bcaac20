// Builds the native addons of an installed package from their source, where those that came with it do not fit this machine: fetches what the build
// needs at the versions of package.json into build/kit, then runs scripts/native.mjs. Needs a C++ compiler, cmake, git and npm.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..');
const kit = join(root, 'build/kit');
const NEEDED = ['@fugood/whisper.node', 'cmake-js', 'node-addon-api', 'node-api-headers', 'node-llama-cpp'];

/** Runs a command that says itself what is wrong. */
function must(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: kit, stdio: ['ignore', 2, 2] });
  if (error) process.stderr.write(`quern: ${command} cannot be run (${error.message}).\n`);
  if (status !== 0) process.exit(1);
}

/** The package carries ONNX Runtime for the system that it was made on. */
function completeOnnxRuntime(version) {
  const own = dirname(createRequire(join(root, 'package.json')).resolve('onnxruntime-node/package.json'));
  const system = join('bin/napi-v6', process.platform, process.arch);
  if (existsSync(join(own, system))) return;
  must('npm', ['install', '--ignore-scripts', '--no-save', '--no-audit', '--no-fund', `onnxruntime-node@${version}`]);
  const whole = join(kit, 'node_modules/onnxruntime-node', system);
  if (existsSync(whole)) cpSync(whole, join(own, system), { recursive: true });
}

const { dependencies, devDependencies, overrides } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
mkdirSync(kit, { recursive: true });
must(process.execPath, [join(root, 'scripts/native.mjs'), '--tools']);
const wanted = Object.fromEntries(NEEDED.map((name) => [name, devDependencies[name]]));
writeFileSync(join(kit, 'package.json'), JSON.stringify({ private: true, dependencies: wanted, overrides }, null, 2));
process.stderr.write('quern: fetching what the build needs ...\n');
must('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund']);
completeOnnxRuntime(dependencies['onnxruntime-node']);
must(process.execPath, [join(root, 'scripts/native.mjs')]);

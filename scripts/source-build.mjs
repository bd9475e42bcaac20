// Builds the native addons of an installed package from their source, where those that came with it do not fit this machine: fetches what the build
// needs at the versions of package.json into build/kit, then runs scripts/native.mjs. Needs a C++ compiler, cmake, git and npm.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const kit = join(root, 'build/kit');
const NEEDED = ['@fugood/whisper.node', 'cmake-js', 'node-addon-api', 'node-api-headers', 'node-llama-cpp'];

/** Runs a command that says itself what is wrong. */
function must(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: kit, stdio: ['ignore', 2, 2] });
  if (error) process.stderr.write(`quern: ${command} cannot be run (${error.message}).\n`);
  if (status !== 0) process.exit(1);
}

/** Whether the package was made on another system: it brought of its dependencies what that one loads. */
function isFromElsewhere() {
  const { platform, arch } = JSON.parse(readFileSync(join(root, 'build/native/prebuilt.json'), 'utf8'));
  return platform !== process.platform || arch !== process.arch;
}

const { dependencies, optionalDependencies, devDependencies, overrides } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
mkdirSync(kit, { recursive: true });
must(process.execPath, [join(root, 'scripts/native.mjs'), '--tools']);
const tools = Object.fromEntries(NEEDED.map((name) => [name, devDependencies[name]]));
const fromElsewhere = isFromElsewhere();
const wanted = fromElsewhere ? { dependencies: { ...dependencies, ...tools }, optionalDependencies } : { dependencies: tools };
writeFileSync(join(kit, 'package.json'), JSON.stringify({ private: true, ...wanted, overrides }, null, 2));
process.stderr.write('quern: fetching what the build needs ...\n');
must('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund']);
if (fromElsewhere) cpSync(join(kit, 'node_modules'), join(root, 'node_modules'), { recursive: true });
must(process.execPath, [join(root, 'scripts/native.mjs')]);

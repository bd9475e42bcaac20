import { type ChildProcess, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../test/support/ports.js';
import { Lacking } from './lacking.js';
import { answers, program, ROOT } from './measure.js';
import { PEERS } from './peers.js';

const FOLDER = join(PEERS, 'node');
const CHROMA_WHEEL = 'chromadb==1.5.9';
const INSTALL_LIMIT_MS = 300_000;

function done(command: string, args: string[], cwd: string): boolean {
  return spawnSync(command, args, { cwd, stdio: 'ignore', timeout: INSTALL_LIMIT_MS }).status === 0;
}

/** True where a package is there, in the version that is named, if one is. */
function isInstalled(wanted: string): boolean {
  const [, name, version] = /^(.[^@]*)(?:@(.*))?$/.exec(wanted)!;
  const path = join(FOLDER, 'node_modules', name!, 'package.json');
  if (!existsSync(path)) return false;
  const { version: present = '' } = JSON.parse(readFileSync(path, 'utf8')) as { version?: string };
  return version === undefined || `${present}.`.startsWith(`${version}.`);
}

/** Installs packages outside the repository, without their scripts, unless they are there. Throws where they cannot be had. */
export function installPeers(...packages: string[]): void {
  mkdirSync(FOLDER, { recursive: true });
  if (!existsSync(join(FOLDER, 'package.json'))) writeFileSync(join(FOLDER, 'package.json'), '{"private":true}');
  const missing = packages.filter((one) => !isInstalled(one));
  // Peer dependencies of other packages are left out, because they bring another version of a peer along.
  if (missing.length > 0 && !done('npm', ['install', '--ignore-scripts', '--legacy-peer-deps', ...missing], FOLDER))
    throw new Lacking(missing.join(', '), `npm could not install it; try npm install --prefix ${FOLDER} ${missing.join(' ')}`);
}

/** The file that an installed peer begins with. */
export function peerPath(name: string): string {
  return createRequire(join(FOLDER, 'package.json')).resolve(name);
}

/** A module of an installed peer. */
export function peerModule<Module>(name: string): Module {
  return createRequire(join(FOLDER, 'package.json'))(name) as Module;
}

/** Compiles hnswlib-node with full optimisation for this machine. Throws where that fails. */
export function buildHnswlib(): void {
  installPeers('hnswlib-node@3.0.0');
  const folder = join(FOLDER, 'node_modules/hnswlib-node');
  const binary = join(folder, 'build/Release/addon.node');
  if (existsSync(binary)) return;
  mkdirSync(join(folder, 'build/Release'), { recursive: true });
  const includes = ['node-api-headers/include', 'node-addon-api'].map((one) => `-I${join(ROOT, 'node_modules', one)}`);
  const sources = readdirSync(join(folder, 'src')).filter((name) => name.endsWith('.cc'));
  const flags = ['-O3', '-march=native', '-std=c++17', '-shared', '-fPIC', '-DNAPI_DISABLE_CPP_EXCEPTIONS'];
  const inputs = sources.map((name) => join(folder, 'src', name));
  if (!done('c++', [...flags, ...includes, ...inputs, '-o', binary], folder))
    throw new Lacking('hnswlib-node', 'it does not compile here: a C++ compiler, Debian: apt install g++');
}

/**
 * Chroma's server on a free port: the Rust core of its Python wheel, because the binary of its npm package wants glibc 2.38 (Debian 12 has 2.36).
 * Throws where it cannot be had.
 */
export async function startChroma(): Promise<{ url: string; child: ChildProcess }> {
  const folder = join(PEERS, 'chroma');
  if (!existsSync(folder) && !done('python3', ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', folder, CHROMA_WHEEL], ROOT))
    throw new Lacking('Chroma', `python3 -m pip install --no-deps --target ${folder} ${CHROMA_WHEEL}`);
  const port = await freePort();
  const kept = mkdtempSync(join(tmpdir(), 'quern-bench-chroma-'));
  const start = `import sys; sys.path.insert(0, sys.argv[1]); import chromadb_rust_bindings as c; c.cli(['chroma', 'run', '--path', sys.argv[2], '--port', sys.argv[3]])`;
  const child = program('python3', ['-c', start, folder, kept, String(port)], { ANONYMIZED_TELEMETRY: 'False' });
  const url = `http://127.0.0.1:${port}/api/v2`;
  await answers(`${url}/heartbeat`);
  return { url, child };
}

// What `npm pack` runs first: the package is for users of this system, who have no compiler.
// - The tree is built, and `build/bundle` holds that build alone.
// - `build/native/prebuilt.json` says for which system the addons were built and what their SHA-256 are.
// - All that it needs of the registry travels in it (`bundleDependencies`), less what this system never loads: npm 10, which comes with Node.js 20 and 22,
//   fetches the libraries of every other system where it resolves such a package, and does not get through the optional peers of better-auth.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, dropOtherSystems, root } from './steps.mjs';

const read = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'));

/** Removes what earlier builds left in `build/bundle`. */
function dropOldBundles() {
  const kept = new Set(['files.json', ...read('build/bundle/files.json')]);
  for (const name of readdirSync(join(root, 'build/bundle'))) if (!kept.has(name)) rmSync(join(root, 'build/bundle', name));
}

function describeAddons() {
  const folder = 'build/native/Release';
  const hash = (name) =>
    createHash('sha256')
      .update(readFileSync(join(root, folder, name)))
      .digest('hex');
  const names = ['quern_core.node', 'quern_inference.node'];
  const described = {
    platform: process.platform,
    arch: process.arch,
    files: Object.fromEntries(names.map((name) => [`Release/${name}`, hash(name)])),
  };
  writeFileSync(join(root, 'build/native/prebuilt.json'), `${JSON.stringify(described, null, 2)}\n`);
}

/** ONNX Runtime's script fetches its CUDA libraries, which `.npmrc` prevents in a clone; a package carries no such file. */
function dropScripts() {
  const path = 'node_modules/onnxruntime-node/package.json';
  const { scripts: _, ...rest } = read(path);
  writeFileSync(join(root, path), `${JSON.stringify(rest, null, 2)}\n`);
}

/** What lies in packages beside what this system loads: source maps, forms for browsers, libraries of another processor or C library. `npm ci` brings it back. */
function dropUnused() {
  const folder = join(root, 'node_modules');
  const modules = readdirSync(folder, { recursive: true });
  const isGlibc = process.report.getReport().header.glibcVersionRuntime !== undefined;
  const isUnused = (path) =>
    path.endsWith('.map') ||
    /^tesseract\.js-core\/.*\.wasm\.js$/.test(path) ||
    (isGlibc && /^@libsql\/[^/]+-musl\w*$/.test(path)) ||
    (/^@node-llama-cpp\/[^/]+$/.test(path) && !path.includes(process.arch));
  for (const path of modules.filter(isUnused)) rmSync(join(folder, path), { recursive: true, force: true });
}

await build();
dropOtherSystems();
dropUnused();
dropScripts();
dropOldBundles();
describeAddons();

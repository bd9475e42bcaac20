// What `npm pack` runs first: the package is for users of this system, who have no compiler.
// - The tree is built, and `build/bundle` holds that build alone.
// - `build/native/prebuilt.json` says for which system the addons were built and what their SHA-256 are.
// - ONNX Runtime travels in the package (`bundleDependencies`): its own carries 250 MB for other systems.
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

await build();
dropOtherSystems();
dropScripts();
dropOldBundles();
describeAddons();

// Packs the daemon into build/bundle: a process that reads a few files starts sooner than one that reads a hundred. Tests, worker threads and
// child processes run the compiled files of build/ themselves; nothing is different there.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');
/** Packages of many small modules, each packed into one file of its own that is read when the package is first used. */
const PACKED = ['yaml'];
/** Packages that have no CommonJS form: `require` would give their module and not what it exports by default. */
const MODULES_ONLY = ['rbush'];

/** Gives `import.meta` the value that it has in the compiled file: files are looked for beside it. */
function inPlace(source, path) {
  const place = (file) => `__placeOf(${JSON.stringify(file)})`;
  return source
    .replace(/createRequire\(import\.meta\.url\)\((?=')/g, 'require(')
    .replaceAll('import.meta.url', `${place(path)}.href`)
    .replaceAll('import.meta.dirname', `__url.fileURLToPath(${place(dirname(path))})`)
    .replaceAll('import.meta.filename', `__url.fileURLToPath(${place(path)})`);
}

const ownFiles = {
  name: 'own files',
  setup(esbuild) {
    esbuild.onLoad({ filter: /\.ts$/ }, ({ path }) => ({
      contents: inPlace(readFileSync(path, 'utf8'), relative(root, path).replace(/ts$/, 'js')),
      loader: 'ts',
    }));
  },
};

/**
 * Packages stay where they are. Those of the start are loaded with `require`, as their CommonJS forms are single files; what is imported late stays
 * an import, so that its names are what the source says.
 */
const packages = {
  name: 'packages',
  setup(esbuild) {
    esbuild.onResolve({ filter: /^[^.]/ }, ({ path, kind }) => {
      if (kind === 'entry-point' || path.startsWith('node:')) return undefined;
      if (PACKED.includes(path)) return { path: `./${path}.cjs`, external: true };
      if (MODULES_ONLY.includes(path)) return { path, external: true };
      return ['require-call', 'dynamic-import'].includes(kind) ? { path, external: true } : { path, namespace: 'package' };
    });
    esbuild.onLoad({ filter: /./, namespace: 'package' }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)})`,
    }));
  },
};

const common = { absWorkingDir: root, outdir: 'build/bundle', bundle: true, platform: 'node', logLevel: 'warning', metafile: true };
const daemon = await build({
  ...common,
  entryPoints: ['cli/main.ts'],
  entryNames: '[name]',
  format: 'esm',
  splitting: true,
  sourcemap: true,
  plugins: [ownFiles, packages],
  banner: {
    js: [
      "import * as __module from 'node:module';",
      "import * as __url from 'node:url';",
      'const require = __module.createRequire(import.meta.url);',
      'const __placeOf = (file) => new URL(`../${file}`, import.meta.url);',
    ].join('\n'),
  },
});
const packed = await build({ ...common, entryPoints: PACKED, format: 'cjs', outExtension: { '.js': '.cjs' } });
// Beside them lie files of earlier bundles, which a daemon that is running may still load.
const files = [daemon, packed].flatMap(({ metafile }) => Object.keys(metafile.outputs)).map((path) => basename(path));
writeFileSync(join(root, 'build/bundle/files.json'), JSON.stringify(files));

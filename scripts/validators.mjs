// Makes the validators of all schemas: modules that check values without Ajv, whose compiler would hold up the daemon's event loop.
import { Ajv2020 } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';
import { build } from 'esbuild';

/** What schemas/validate.ts asks for: the first violation only, all of them, and all after conversion from text. */
const KINDS = { quick: {}, thorough: { allErrors: true }, coercing: { allErrors: true, coerceTypes: 'array' } };
const BASE = 'schema://quern/';

/** Texts for people, which validators would carry along. */
const withoutDescriptions = (key, value) => (key === 'description' && typeof value === 'string' ? undefined : value);

/**
 * Writes `{area}.{kind}.cjs` for each schema file into `outdir`; a module exports one validator per shape. `schemas` maps paths such as
 * `core/chat.json` to texts.
 */
export async function writeValidators(schemas, outdir) {
  const modules = new Map();
  for (const [kind, options] of Object.entries(KINDS)) {
    // Functions for references instead of copies: half the code.
    const ajv = new Ajv2020({
      strict: false,
      // What JSON has beyond a double is read as an infinity.
      strictNumbers: true,
      useDefaults: true,
      discriminator: true,
      inlineRefs: false,
      // Marks the files of forms for the OpenAPI document; their names can be any text.
      formats: { binary: true },
      code: { source: true },
      ...options,
    });
    const parsed = Object.entries(schemas).map(([file, text]) => [file, JSON.parse(text, withoutDescriptions)]);
    for (const [file, schema] of parsed) ajv.addSchema({ ...schema, $id: BASE + file });
    for (const [file, { $defs = {} }] of parsed) {
      const shapes = Object.keys($defs).map((shape) => [shape, `${BASE}${file}#/$defs/${shape}`]);
      modules.set(file.replace(/json$/, kind), standalone(ajv, Object.fromEntries(shapes)));
    }
  }
  await build({
    entryPoints: Object.fromEntries([...modules.keys()].map((name) => [name, `validators:${name}`])),
    plugins: [fromMemory(modules)],
    outdir,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    minify: true,
    platform: 'node',
    logLevel: 'warning',
  });
}

/** Lets esbuild read modules that are not files. */
function fromMemory(modules) {
  return {
    name: 'from memory',
    setup(esbuild) {
      esbuild.onResolve({ filter: /^validators:/ }, ({ path }) => ({ path: path.slice('validators:'.length), namespace: 'validators' }));
      esbuild.onLoad({ filter: /./, namespace: 'validators' }, ({ path }) => ({
        contents: modules.get(path),
        resolveDir: import.meta.dirname,
      }));
    },
  };
}

// Makes the validators of all schemas: modules that check values without Ajv, whose compiler would hold up the daemon's event loop.
import { Ajv2020 } from 'ajv/dist/2020.js';
import standalone from 'ajv/dist/standalone/index.js';
import { build } from 'esbuild';

/** What schemas/validate.ts asks for: the first violation only, many, and the same in turns. */
const KINDS = {
  quick: {},
  thorough: { allErrors: true },
  sliced: { allErrors: true },
};
/** A loop over items or members ends when it alone has found so many errors: one failure lists 50 items of some errors each. */
const MAX_ERRORS_PER_LOOP = 400;
/** Items or members checked between two pauses of a sliced validator: some 0.1 ms. */
const ITEMS_PER_SLICE = 256;
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
    // References become functions instead of copies, which halves the code.
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
      const code = bounded(standalone(ajv, Object.fromEntries(shapes)));
      modules.set(file.replace(/json$/, kind), kind === 'sliced' ? sliced(code) : code);
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

/** The form of Ajv's loops over items and members. */
const LOOP = /\bfor ?\((?:let i\d+=0; i\d+<len\d+; i\d+\+\+|const key\d+ in \w+)\) ?\{/g;

/** Ends loops after `MAX_ERRORS_PER_LOOP`, and counts the characters of a text only where its length does not decide. */
function bounded(code) {
  let loops = 0;
  return code
    .replace(LOOP, (loop) => {
      loops += 1;
      return `const before${loops} = errors;${loop}if(errors - before${loops} >= ${MAX_ERRORS_PER_LOOP}) break;`;
    })
    .replace(
      /\bfunc\d+\((data\d*)\) > (\d+)/g,
      (count, text, max) => `(${text}.length > ${2 * max} || (${text}.length > ${max} && ${count}))`,
    )
    .replace(/\bfunc\d+\((data\d*)\) < (\d+)/g, (count, text, min) => `(${text}.length < ${2 * min} && ${count})`);
}

/** Makes generators of validators: they yield now and then, and return whether the value fits. */
function sliced(code) {
  const generators = code
    .replace(/\bfunction (?=validate\d+\()/g, 'function* ')
    .replace(/(?<=if\(!\()(?=validate\d+\()/g, 'yield* ')
    .replace(LOOP, `$&if((checked += 1) % ${ITEMS_PER_SLICE} === 0) yield;`);
  if (/(?<!\* )\bvalidate\d+\(/.test(generators))
    throw new Error('a validator is called in a form that scripts/validators.mjs does not know');
  return `${generators};let checked = 0;`;
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

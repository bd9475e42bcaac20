// Writes schemas/generated/**.ts (types) from schemas/**/*.json, and the validators and a copy of each schema into build/schemas.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import { compile } from 'json-schema-to-typescript';
import { writeValidators } from './validators.mjs';

const root = join(import.meta.dirname, '..');
const source = join(root, 'schemas');

/** Every schema file below `folder`, as paths relative to `schemas/` with forward slashes. */
function schemaFiles(folder = source) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return name === 'generated' ? [] : schemaFiles(path);
    return name.endsWith('.json') ? [relative(source, path).split(sep).join('/')] : [];
  });
}

/** Turns references to other files into imported type names, so that each shape is generated once. */
function importForeign(node, file, imports) {
  if (Array.isArray(node)) return node.map((item) => importForeign(item, file, imports));
  if (node === null || typeof node !== 'object') return node;
  const ref = node.$ref;
  if (typeof ref === 'string' && !ref.startsWith('#')) {
    const [path, pointer] = ref.split('#');
    const target = posix.join(posix.dirname(file), path).replace(/\.json$/, '');
    const alias = target.replace(/[^A-Za-z0-9]/g, '_');
    let from = posix.relative(posix.dirname(file), target);
    if (!from.startsWith('.')) from = `./${from}`;
    imports.set(alias, `import type * as ${alias} from '${from}.js';`);
    return { tsType: `${alias}.${pointer.split('/').pop()}` };
  }
  // What handlers check themselves is of the document alone.
  const members = Object.entries(node).filter(([key]) => key !== 'x-checked');
  return Object.fromEntries(members.map(([key, value]) => [key, importForeign(value, file, imports)]));
}

/** A schema file's content; ends the script with one line that names a file that is no JSON. */
function parsed(file, text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    process.stderr.write(`schemas/${file}: ${error.message}\n`);
    process.exit(1);
  }
}

/** Writes only what changed, so that tsc's incremental build stays warm. */
function writeIfChanged(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  try {
    if (readFileSync(path, 'utf8') === text) return;
  } catch {}
  writeFileSync(path, text);
}

const schemas = Object.fromEntries(schemaFiles().map((file) => [file, readFileSync(join(source, file), 'utf8')]));
for (const [file, text] of Object.entries(schemas)) {
  const imports = new Map();
  const schema = importForeign(parsed(file, text), file, imports);
  delete schema.$id;
  const types = await compile({ title: 'SchemaFile', ...schema }, 'SchemaFile', {
    additionalProperties: false,
    unreachableDefinitions: true,
    format: false,
    bannerComment: `// Generated from schemas/${file}; do not edit.`,
    cwd: dirname(join(source, file)),
    customName: (_node, key) => key,
  });
  const [banner, ...rest] = types.split('\n');
  writeIfChanged(join(source, 'generated', file.replace(/\.json$/, '.ts')), [banner, ...imports.values(), ...rest].join('\n'));
  writeIfChanged(join(root, 'build', 'schemas', file), text);
}
await writeValidators(schemas, join(root, 'build', 'schemas'));

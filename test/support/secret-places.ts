import { withoutSecrets } from '../../runtime/config/secrets.js';
import { extractors } from '../../runtime/documents/extractors/index.js';
import { EMBEDDERS } from '../../runtime/rag/embedders/index.js';
import { RETRIEVERS } from '../../runtime/rag/retrievers/index.js';
import { schemaFile } from './schema-file.js';

/** A JSON Schema of any shape. */
// biome-ignore lint/suspicious/noExplicitAny: schemas are looked into at every depth
type Schema = any;

const PROBE = 'some-text';

/** What a name stands for in a map whose names the user chooses. */
const ANY_NAME = 'any_name';

/** A configuration with one text at a path; numbers in it are positions of lists. */
function configWith(path: readonly string[], text: string): unknown {
  return path.reduceRight<unknown>((inner, part) => (part === '[]' ? [inner] : { [part]: inner }), text);
}

/** Paths of all texts that a schema knows, `[]` for the entries of a list. */
function textPaths(file: string, schema: Schema, path: readonly string[]): (readonly string[])[] {
  if (schema.$ref !== undefined) {
    const [target, name] = schema.$ref.split('#/$defs/') as [string, string];
    const other = target === '' ? file : new URL(target, `file:///${file}`).pathname.slice(1);
    return textPaths(other, (schemaFile(other).$defs as Schema)[name], path);
  }
  const below = [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, member]) => textPaths(file, member, [...path, name])),
    ...(typeof schema.additionalProperties === 'object' ? textPaths(file, schema.additionalProperties, [...path, ANY_NAME]) : []),
    ...(schema.items === undefined ? [] : textPaths(file, schema.items, [...path, '[]'])),
  ];
  return [schema.type].flat().includes('string') ? [path, ...below] : below;
}

/**
 * Every place of a configuration whose whole text is masked, as `runtime.models.[].api_key`: those of the project file's schemas, and the
 * options of plug-ins as `OpenAIEmbedder.api_key`.
 */
export function secretPlaces(): string[] {
  const inFile = textPaths('config/project.json', { $ref: '#/$defs/ProjectConfig' }, []);
  const plugins = [...Object.entries(EMBEDDERS), ...Object.entries(RETRIEVERS), ...extractors.map((one) => [one.type, one] as const)];
  const inPlugins = plugins.flatMap(([type, { options }]) =>
    Object.entries(options).flatMap(([name, shape]) => (shape.type === 'boolean' ? [] : [[type, name]])),
  );
  const isSecret = (path: readonly string[]): boolean => {
    const config = configWith(path, PROBE);
    return withoutSecrets(config) !== config;
  };
  return [...inFile, ...inPlugins].filter(isSecret).map((path) => path.join('.'));
}

/** The schema of project files, as the form needs it: references followed, one level at a time. */

import common from '../../../../schemas/common.json';
import memory from '../../../../schemas/config/memory.json';
import projectFile from '../../../../schemas/config/project.json';
import rag from '../../../../schemas/config/rag.json';
import voice from '../../../../schemas/config/voice.json';
import chat from '../../../../schemas/core/chat.json';
import toolServers from '../../../../schemas/core/tool-servers.json';
import universalChat from '../../../../schemas/universal/chat.json';

/** The parts of JSON Schema that project files use. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly maxLength?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: boolean | Schema;
  readonly anyOf?: readonly Schema[];
  readonly $ref?: string;
  /** The file that its own references start from. */
  readonly file?: string;
}

type SchemaFile = { readonly $defs: Readonly<Record<string, Schema>> };

const FILES: Readonly<Record<string, unknown>> = {
  'common.json': common,
  'config/memory.json': memory,
  'config/project.json': projectFile,
  'config/rag.json': rag,
  'config/voice.json': voice,
  'core/chat.json': chat,
  'core/tool-servers.json': toolServers,
  'universal/chat.json': universalChat,
};

/** A schema with its reference followed; what stands beside a reference goes over what it names. */
export function resolved(schema: Schema, file: string): Schema {
  const here = schema.file ?? file;
  if (schema.$ref === undefined) return { ...schema, file: here };
  const [path = '', pointer = ''] = schema.$ref.split('#');
  const target = path === '' ? here : new URL(path, `schema:///${here}`).pathname.replace(/^\/+/, '');
  let found: unknown = FILES[target];
  for (const part of pointer.split('/').filter((one) => one !== '')) found = (found as Record<string, unknown> | undefined)?.[part];
  const { $ref: _, file: __, ...beside } = schema;
  return { ...resolved((found ?? {}) as Schema, target), ...beside };
}

/** The schema of a member or entry of a value. */
export const memberOf = (schema: Schema, name: string): Schema => resolved(schema.properties?.[name] ?? {}, schema.file!);
export const entryOf = (schema: Schema): Schema => resolved(schema.items ?? {}, schema.file!);

/** The schema of a whole project file. */
export const PROJECT_FILE: Schema = resolved((projectFile as unknown as SchemaFile).$defs.ProjectConfig!, 'config/project.json');

/** What kind of control a value gets; `yaml` for what has no form of its own. */
export function kindOf(schema: Schema): 'choice' | 'switch' | 'number' | 'text' | 'words' | 'list' | 'group' | 'yaml' {
  if (schema.enum) return 'choice';
  if (schema.type === 'boolean') return 'switch';
  if (schema.type === 'number' || schema.type === 'integer') return 'number';
  if (schema.type === 'string') return 'text';
  if (schema.type === 'array') {
    const { type, properties } = entryOf(schema);
    return type === 'string' ? 'words' : properties ? 'list' : 'yaml';
  }
  return schema.properties ? 'group' : 'yaml';
}

/** A name of the file as words: `default_model` is `Default model`. */
export const wordsOf = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ');

/** What a control's hint says: the description, and the value where nothing is set. */
export function hintOf({ description = '', default: usual, minimum, exclusiveMinimum, maximum }: Schema): string {
  const range = maximum === undefined ? '' : ` From ${minimum ?? exclusiveMinimum ?? 0} to ${maximum}.`;
  return `${description.replaceAll('`', '')}${range}${usual === undefined ? '' : ` Without it: ${JSON.stringify(usual)}.`}`.trim();
}

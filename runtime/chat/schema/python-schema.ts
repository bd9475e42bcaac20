import { Cursor } from './python-cursor.js';
import { pythonTokens, unreadable } from './python-tokens.js';
import { type FieldArguments, fieldArguments, readType, type Schema, withRules } from './python-types.js';

const ENUM_BASES: ReadonlySet<string> = new Set(['Enum', 'StrEnum', 'IntEnum']);
const MIXED_IN: ReadonlySet<string> = new Set(['str', 'int']);

interface ModelSchema {
  readonly type: 'object';
  readonly properties: Schema;
  readonly required: string[];
  readonly additionalProperties: false;
  description?: string;
}

/** A class of a file: a model with its fields, or an enumeration with its values. */
type ClassSchema = ModelSchema | { readonly enum: unknown[]; description?: string };

/** Reads the classes of a schema file without running any of it. */
class FileReader {
  readonly #cursor: Cursor;
  readonly #classes = new Map<string, ClassSchema>();
  /** Classes that types name, with the line of the first mention. */
  readonly #named = new Map<string, number>();

  constructor(text: string) {
    this.#cursor = new Cursor(pythonTokens(text));
  }

  read(): Map<string, ClassSchema> {
    const cursor = this.#cursor;
    while (!cursor.take('end')) {
      if (cursor.take('class')) this.#class();
      else if (['from', 'import'].includes(cursor.token.text) || cursor.token.kind === 'string') cursor.skipLine();
      else if (!cursor.take('newline')) cursor.refuse('a schema file holds imports and classes only');
    }
    for (const [name, line] of this.#named) {
      if (!this.#classes.has(name)) throw unreadable(line, `the type ${name} is neither supported nor a class of this file`);
    }
    return this.#classes;
  }

  #class(): void {
    const cursor = this.#cursor;
    const { text: name, line } = cursor.expect('name');
    const bases: string[] = [];
    if (cursor.take('(')) cursor.list(')', () => bases.push(cursor.dotted()));
    const isEnum = bases.some((base) => ENUM_BASES.has(base));
    const unknown = bases.find((base) => base !== 'BaseModel' && !ENUM_BASES.has(base) && !MIXED_IN.has(base) && !this.#classes.has(base));
    if (bases.length === 0 || unknown !== undefined) {
      throw unreadable(
        line,
        `the class ${name} must derive from BaseModel, Enum or a class above it${unknown ? `, not from ${unknown}` : ''}`,
      );
    }
    const schema = isEnum ? { enum: [] } : modelOf(bases.map((base) => this.#classes.get(base)));
    this.#classes.set(name, schema);
    cursor.expect(':');
    if (cursor.take('newline')) {
      cursor.expect('indent');
      while (!cursor.take('dedent')) this.#statement(schema);
    } else this.#statement(schema);
  }

  #statement(schema: ClassSchema): void {
    const cursor = this.#cursor;
    if (cursor.take('newline') || cursor.take('pass') || cursor.take('...')) return;
    if (cursor.token.kind === 'string') {
      const text = String(cursor.literal()).trim();
      // Later ones describe a field.
      schema.description ??= text;
    } else {
      const { text: name, line } = cursor.expect('name');
      if ('enum' in schema) {
        if (!cursor.take('=')) cursor.refuse('NAME = value is expected in an enumeration', line);
        schema.enum.push(cursor.plain());
      } else if (name === 'model_config') cursor.skipLine();
      else if (cursor.take(':')) this.#field(schema, name);
      else cursor.refuse('name: type is expected in a model', line);
    }
    cursor.expect('newline');
  }

  #field(model: ModelSchema, name: string): void {
    const cursor = this.#cursor;
    const type = readType(cursor, (other, line) => {
      if (!this.#named.has(other)) this.#named.set(other, line);
      return { $ref: `#/$defs/${other}` };
    });
    let field: FieldArguments = { optional: false, rules: new Map() };
    if (cursor.take('=')) {
      if (cursor.take('Field')) field = fieldArguments(cursor);
      else {
        cursor.literal();
        field.optional = true;
      }
    }
    const key = field.alias ?? name;
    const { properties, required } = model;
    // A field of a parent, written anew.
    const before = key in properties ? required.indexOf(key) : -1;
    if (before >= 0) required.splice(before, 1);
    if (!field.optional) required.push(key);
    properties[key] = withRules(type, field);
  }
}

/** A model with the fields of its parents. */
function modelOf(parents: readonly (ClassSchema | undefined)[]): ModelSchema {
  const models = parents.filter((parent): parent is ModelSchema => parent !== undefined && 'properties' in parent);
  return {
    type: 'object',
    properties: Object.assign({}, ...models.map(({ properties }) => properties)),
    required: [...new Set(models.flatMap(({ required }) => required))],
    additionalProperties: false,
  };
}

/**
 * The JSON Schema of a model class in a Python file. The file is read, never run: imports, models with typed fields, `Field(...)`, enumerations and
 * doc strings are understood. Throws `bad_request` naming the line of anything else, and for a class that is not there or no model.
 */
export function pythonSchema(text: string, name: string): Schema {
  const classes = new FileReader(text).read();
  const models = [...classes].filter(([, schema]) => 'properties' in schema).map(([one]) => one);
  if (!models.includes(name)) throw unreadable(1, `the file has no model class ${name}; it has ${models.join(', ') || 'none'}`);
  return { $ref: `#/$defs/${name}`, $defs: Object.fromEntries(classes) };
}

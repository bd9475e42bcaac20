import { Cursor, type Literal, pythonTokens, unreadableSchema } from './python-reader.js';
import { type FieldArguments, fieldArguments, isPlainType, readType, type Schema, withRules } from './python-types.js';

/**
 * The JSON Schema of a model class in a Python file. The file is read, never run: imports, constants, names for types, models with typed fields, classes
 * inside them, `Field(...)`, enumerations and doc strings are understood. Throws `bad_request` naming the line of anything else, and for a class that is not there or no model.
 */
export function pythonSchema(text: string, name: string): Schema {
  const reader = new FileReader(text);
  const classes = reader.read();
  const { models } = reader;
  if (!models.includes(name)) throw unreadableSchema(1, `the file has no model class ${name}; it has ${models.join(', ') || 'none'}`);
  return { $ref: `#/$defs/${name}`, $defs: Object.fromEntries(classes) };
}

interface ModelSchema {
  readonly type: 'object';
  readonly properties: Schema;
  readonly required: string[];
  readonly additionalProperties: false;
  description?: string;
}

/** An enumeration with its values. */
interface EnumSchema {
  readonly enum: Literal[];
  description?: string;
}

/** A class of a file: a model with its fields, an enumeration, or a type with a name. */
type ClassSchema = ModelSchema | EnumSchema | Schema;

/** What stands in the head of a class. */
interface Head {
  readonly name: string;
  readonly line: number;
  readonly bases: readonly string[];
  /** Of `RootModel[...]`. */
  readonly root?: Schema;
}

const ENUM_BASES: ReadonlySet<string> = new Set(['Enum', 'StrEnum', 'IntEnum']);
const MIXED_IN: ReadonlySet<string> = new Set(['str', 'int']);

/** Reads the classes of a schema file without running any of it. */
class FileReader {
  readonly #cursor: Cursor;
  readonly #classes = new Map<string, ClassSchema>();
  /** Names of classes that can be answered by: models, and types with a root. */
  readonly models: string[] = [];
  /** Classes that types name, with the line of the first mention. */
  readonly #named = new Map<string, number>();
  readonly #values = new Map<string, Literal>();

  constructor(text: string) {
    this.#cursor = new Cursor(pythonTokens(text), this.#values);
  }

  read(): Map<string, ClassSchema> {
    const cursor = this.#cursor;
    while (!cursor.take('end')) {
      if (cursor.take('class')) this.#class();
      else if (['from', 'import'].includes(cursor.token.text) || cursor.token.kind === 'string') cursor.skipLine();
      else if (cursor.token.kind === 'name' && (cursor.next?.text === '=' || cursor.next?.text === ':')) this.#assignment();
      else if (!cursor.take('newline')) cursor.refuse('a schema file holds imports and classes only');
    }
    for (const [name, line] of this.#named) {
      if (!this.#classes.has(name)) throw unreadableSchema(line, `the type ${name} is neither supported nor a class of this file`);
    }
    return this.#classes;
  }

  /** A constant, or a name for a type: `NAME = value`, `NAME: TypeAlias = type`. */
  #assignment(): void {
    const cursor = this.#cursor;
    const name = cursor.expect('name').text;
    if (cursor.take(':')) readType(cursor, () => ({}));
    cursor.expect('=');
    const { token, next } = cursor;
    const isType =
      token.kind === 'name' && (isPlainType(token.text) || ['[', '|'].includes(next?.text ?? '') || this.#classes.has(token.text));
    if (isType) this.#classes.set(name, this.#type());
    else this.#values.set(name, cursor.literal());
    cursor.expect('newline');
  }

  #type(): Schema {
    return readType(this.#cursor, (name, line) => {
      if (!this.#named.has(name)) this.#named.set(name, line);
      return { $ref: `#/$defs/${name}` };
    });
  }

  #head(): Head {
    const cursor = this.#cursor;
    const { text: name, line } = cursor.expect('name');
    const bases: string[] = [];
    let root: Schema | undefined;
    const base = (): void => {
      if (cursor.next?.text === '=') {
        cursor.expect('name');
        cursor.expect('=');
        cursor.literal();
        return;
      }
      bases.push(cursor.dotted());
      if (bases.at(-1) !== 'RootModel' || !cursor.take('[')) return;
      root = this.#type();
      cursor.expect(']');
    };
    if (cursor.take('(')) cursor.list(')', base);
    return { name, line, bases, ...(root && { root }) };
  }

  #class(): void {
    const head = this.#head();
    const schema = this.#opened(head);
    this.#classes.set(head.name, schema);
    if (head.root || isModel(schema)) this.models.push(head.name);
    this.#body((cursor) => {
      if (cursor.token.kind === 'string') {
        const text = dedentDocstring(String(cursor.literal()));
        // Later ones describe a field.
        schema.description ??= text;
        cursor.expect('newline');
      } else if ('enum' in schema) this.#member(head, schema as EnumSchema);
      else if (isModel(schema)) this.#statement(schema);
      else cursor.refuse('a model with a root has no fields');
    });
  }

  /** The schema of a class before its fields. Throws for one that is neither a model nor an enumeration. */
  #opened({ name, line, bases, root }: Head): ClassSchema {
    if (root) return { ...root };
    if (bases.some((base) => ENUM_BASES.has(base))) return { enum: [] };
    const unknown = bases.find((base) => base !== 'BaseModel' && !MIXED_IN.has(base) && !this.#classes.has(base));
    if (bases.length > 0 && unknown === undefined) return modelOf(bases.map((base) => this.#classes.get(base)));
    const from = unknown ? `, not from ${unknown}` : '';
    throw unreadableSchema(line, `the class ${name} must derive from BaseModel, Enum or a class above it${from}`);
  }

  /** Reads what stands in a class: on its line, or in the block below. */
  #body(statement: (cursor: Cursor) => void): void {
    const cursor = this.#cursor;
    const one = (): void => {
      if (!cursor.take('newline') && !cursor.take('pass') && !cursor.take('...')) statement(cursor);
    };
    cursor.expect(':');
    if (!cursor.take('newline')) {
      one();
      return;
    }
    cursor.expect('indent');
    while (!cursor.take('dedent')) one();
  }

  #member({ name: enumeration, bases }: Head, schema: EnumSchema): void {
    const cursor = this.#cursor;
    const { text: name, line } = cursor.expect('name');
    if (!cursor.take('=')) cursor.refuse('NAME = value is expected in an enumeration', line);
    const isAuto = cursor.token.text === 'auto' && cursor.next?.text === '(';
    if (isAuto) cursor.literal();
    const value = isAuto ? (bases.includes('StrEnum') ? name.toLowerCase() : schema.enum.length + 1) : cursor.plain();
    schema.enum.push(value);
    this.#values.set(`${enumeration}.${name}`, value);
    cursor.expect('newline');
  }

  #statement(model: ModelSchema): void {
    const cursor = this.#cursor;
    if (cursor.take('class')) {
      // What pydantic's first version was configured by is no class of the answer.
      if (cursor.token.text === 'Config') this.#skipClass();
      else this.#class();
      return;
    }
    const { text: name, line } = cursor.expect('name');
    if (name === 'model_config') cursor.skipLine();
    else if (cursor.take(':')) this.#field(model, name);
    else cursor.refuse('name: type is expected in a model', line);
    cursor.expect('newline');
  }

  #skipClass(): void {
    this.#head();
    this.#body((cursor) => cursor.skipLine());
  }

  #field(model: ModelSchema, name: string): void {
    const cursor = this.#cursor;
    const type = this.#type();
    let field: FieldArguments = { optional: false, rules: new Map() };
    if (cursor.take('=')) {
      if (cursor.take('Field')) {
        cursor.expect('(');
        field = fieldArguments(cursor);
      } else field = { ...field, optional: true, standIn: cursor.literal() };
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

const isModel = (schema: ClassSchema | undefined): schema is ModelSchema => schema !== undefined && 'properties' in schema;

/** A doc string without the indentation of its lines. */
function dedentDocstring(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .trim();
}

/** A model with the fields of its parents. */
function modelOf(parents: readonly (ClassSchema | undefined)[]): ModelSchema {
  const models = parents.filter(isModel);
  return {
    type: 'object',
    properties: Object.assign({}, ...models.map(({ properties }) => properties)),
    required: [...new Set(models.flatMap(({ required }) => required))],
    additionalProperties: false,
  };
}

import { type JsonSchema, resolveReference, schemaFile } from './files.js';
import { NO, YES } from './validate.js';

/** A shape by its name, with the file that holds it; an `Error` when there is none. */
export function shapeOf(name: string): [file: string, schema: JsonSchema] {
  const [file = '', shape = ''] = name.split('#');
  const schema = (schemaFile(file).$defs as Record<string, JsonSchema> | undefined)?.[shape];
  if (schema === undefined) throw new Error(`no shape ${shape} in schemas/${file}.json`);
  return [file, schema];
}

/**
 * What a handler checks itself, with a status and words of its own, stands under this name in a schema: validators pass it over, and the document
 * has its members as if they stood beside it.
 */
const CHECKED_BY_HANDLER = 'x-checked';

/** A schema with a boolean as a form may send it, and of a text or null the text, since a form has no null beside it; others as they are. */
function asFormValue(schema: JsonSchema): JsonSchema {
  const { type, ...rest } = schema;
  const types = [type].flat();
  if (types.includes('string') && types.includes('null')) return { ...rest, type: 'string' };
  if (!types.includes('boolean')) return schema;
  const texts = [...YES, ...NO]
    .map((text) => (/^\d$/.test(text) ? Number(text) : text))
    .filter((text) => text !== 'true' && text !== 'false');
  return { ...rest, enum: [true, false, ...texts, ...(types.includes('null') ? [null] : [])] };
}

/** The shapes of a document, gathered while references to them are made. */
export class Components {
  readonly #names = new Map<string, string>();
  readonly #schemas: Record<string, JsonSchema> = {};
  readonly #place: string;

  /** `place`: where the document has them, as a reference without the name, such as `#/$defs/`. */
  constructor(place: string) {
    this.#place = place;
  }

  /** Every shape that was referred to, by its name in the document. */
  all(): Record<string, JsonSchema> {
    return Object.fromEntries(Object.entries(this.#schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /**
   * A reference to a shape, which becomes a component under its own name, or, where that is taken, with its file's before it. `asForm` has the
   * shape as a form sends it.
   */
  reference(name: string, asForm = false): JsonSchema {
    const key = `${name}${asForm ? ' as form' : ''}`;
    const known = this.#names.get(key);
    if (known !== undefined) return { $ref: `${this.#place}${known}` };
    const [file, schema] = shapeOf(name);
    const shape = name.slice(name.indexOf('#') + 1);
    const short = asForm && !shape.endsWith('Form') ? `${shape}Form` : shape;
    const component = Object.hasOwn(this.#schemas, short) ? `${file.replaceAll('/', '_')}_${short}` : short;
    this.#names.set(key, component);
    // Reserves the name before its members, which may refer back to it, are looked at.
    this.#schemas[component] = {};
    this.#schemas[component] = this.rewrite(schema, file, asForm);
    return { $ref: `${this.#place}${component}` };
  }

  /** A copy of a schema of `file` whose references point at components. */
  rewrite(node: JsonSchema, file: string, asForm = false): JsonSchema {
    return this.#copy(node, file, asForm) as JsonSchema;
  }

  #copy(node: unknown, file: string, asForm: boolean): unknown {
    if (Array.isArray(node)) return node.map((item) => this.#copy(item, file, asForm));
    if (node === null || typeof node !== 'object') return node;
    const { [CHECKED_BY_HANDLER]: checked, ...rest } = asForm ? asFormValue(node as JsonSchema) : (node as JsonSchema);
    return Object.fromEntries(
      Object.entries({ ...rest, ...(checked as JsonSchema | undefined) }).map(([key, value]) => {
        if (key !== '$ref' || typeof value !== 'string') return [key, this.#copy(value, file, asForm)];
        const target = resolveReference(file, value);
        const [, defs, shape, ...inside] = target.pointer.split('/');
        if (defs !== '$defs' || shape === undefined)
          throw new Error(`schemas/${file}.json refers to ${value}; only $defs can be components`);
        const { $ref } = this.reference(`${target.file}#${shape}`, asForm);
        return [key, [$ref, ...inside].join('/')];
      }),
    );
  }
}

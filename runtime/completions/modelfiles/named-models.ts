import { Failure } from '../../../schemas/errors.js';
import type { Message } from '../../../schemas/generated/common.js';
import type { WithOptions } from '../../../schemas/generated/universal/ollama.js';
import { check } from '../../../schemas/validate.js';
import { expandHome } from '../../base/files.js';
import type { NamedModelRecord, Store } from '../../store/store.js';
import type { LoraWish, UniversalRequest } from '../request.js';
import { jinjaOf } from './go-template.js';
import { checkParameterNames, type ModelDefinition, optionParts } from './modelfile.js';

/** Most models that clients may make. */
const MODEL_LIMIT = 1_000;
/** Most adapters of a model, as of a request. */
const ADAPTER_LIMIT = 8;
/** Failures to find a model of a name that tell that there is none. */
const FREE: ReadonlySet<string> = new Set(['ModelNotFound', 'InvalidModelName']);
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,95}(?:\/[A-Za-z0-9][A-Za-z0-9._-]{0,95}){0,2}(?::[A-Za-z0-9][A-Za-z0-9._-]{0,79})?$/;

/** A model that a client made, with its name. */
export interface NamedModel extends NamedModelRecord {
  readonly name: string;
}

/** What `NamedModels` asks about the models of this machine. */
interface KnownModels {
  /** Resolves where a language or embedding model of this name is on this machine; throws `not_found` where none is, and what is wrong with one that cannot be used. */
  require(name: string): Promise<void>;
  /** Resolves where these adapters are on this machine and fit the model; throws what keeps a request from using them. */
  adapters(name: string, wanted: readonly LoraWish[]): Promise<unknown>;
}

const wishesOf = (adapters: readonly string[]): LoraWish[] => adapters.map((path) => ({ path }));

/** The name without a `:latest`, which says nothing. */
export const plainName = (name: string): string => name.replace(/:latest$/i, '');

/** Models that clients made of others (a name for a model with a system prompt, settings and a template); they are kept in the store. */
export class NamedModels {
  readonly #store: Store;
  readonly #known: KnownModels;

  constructor(store: Store, known: KnownModels) {
    this.#store = store;
    this.#known = known;
  }

  /** The model of a name, or undefined where a client made none of it. */
  find(name: string): NamedModel | undefined {
    const plain = plainName(name);
    const record = this.#store.namedModels.get(plain);
    return record && { ...record, name: plain };
  }

  /** The name of the model of this machine that is run under a name. */
  baseOf(name: string): string {
    return this.find(name)?.from ?? name;
  }

  /** Whether a model is made of a file, or with it as adapter. */
  namesFile(path: string): boolean {
    return this.list().some(({ from, adapters = [] }) => [from, ...adapters].some((one) => expandHome(one) === path));
  }

  /** All, by name. */
  list(): NamedModel[] {
    return this.#store.namedModels.page({ limit: MODEL_LIMIT }).map(({ key, value }) => ({ ...value, name: key }));
  }

  /**
   * Makes a model, or one anew; it is on disk when this resolves. Throws `bad_request` for a name or definition that cannot be, `not_found` where what it is made
   * of is not on this machine, `conflict` for the name of a model of this machine.
   */
  async create(name: string, definition: ModelDefinition): Promise<void> {
    const plain = await this.#free(name);
    const from = definition.from ?? this.find(plain)?.from;
    if (from === undefined || from === '')
      throw new Failure('bad_request', `"from" is missing: say which model ${plain} is made of.`, { code: 'InvalidModelfile' });
    const base = this.find(from);
    if (!base) await this.#known.require(from);
    const parameters = check<WithOptions>('universal/ollama#WithOptions', { parameters: definition.parameters ?? {} }, 'body').parameters;
    checkParameterNames(parameters);
    optionParts(parameters);
    const adapters = definition.adapters ? Object.values(definition.adapters) : base?.adapters;
    if (adapters !== undefined && adapters.length > ADAPTER_LIMIT)
      throw new Failure(
        'bad_request',
        `The model would have ${adapters.length} adapters (ADAPTER); at most ${ADAPTER_LIMIT} are possible. Leave some out.`,
        {
          code: 'InvalidModelfile',
        },
      );
    if (adapters?.length) await this.#known.adapters(base?.from ?? from, wishesOf(adapters));
    const { template } = definition;
    const translated = template && jinjaOf(template);
    const record: NamedModelRecord = {
      from: base?.from ?? from,
      parameters: { ...base?.parameters, ...parameters },
      messages: definition.messages ?? base?.messages ?? [],
      license: definition.license ? [definition.license].flat() : (base?.license ?? []),
      atMs: Date.now(),
      ...memberIfSet('adapters', adapters),
      ...memberIfSet('system', definition.system ?? base?.system),
      ...memberIfSet('template', translated ?? base?.template),
      ...memberIfSet('givenTemplate', translated === template ? base?.givenTemplate : template),
    };
    await this.#store.write((batch) => batch.put('namedModels', plain, record));
  }

  /** Gives a model a second name; throws as `create` does. */
  async copy(source: string, destination: string): Promise<void> {
    const found = this.find(source);
    if (!found) return this.create(destination, { from: source });
    const plain = await this.#free(destination);
    const { name: _name, ...record } = found;
    await this.#store.write((batch) => batch.put('namedModels', plain, { ...record, atMs: Date.now() }));
  }

  /** Removes a model that a client made; false where there is none of the name. What it is made of stays. */
  async remove(name: string): Promise<boolean> {
    const found = this.find(name);
    if (found) await this.#store.write((batch) => batch.remove('namedModels', found.name));
    return found !== undefined;
  }

  /** A request for such a model as one for what it is made of: the request's own settings win. Other requests stay as they are. */
  applySettings(request: UniversalRequest): UniversalRequest {
    const found = this.find(request.model);
    if (!found) return request;
    const { sampling, loading } = optionParts(found.parameters);
    return {
      ...sampling,
      ...request,
      model: found.from,
      messages: request.raw ? request.messages : this.#messages(found, request.messages),
      options: { ...loading, ...request.options },
      ...memberIfSet('lora', request.lora ?? (found.adapters && wishesOf(found.adapters))),
      ...memberIfSet('chat_template', request.chat_template ?? (request.raw ? undefined : found.template)),
    };
  }

  #messages({ system, messages }: NamedModel, own: Message[]): Message[] {
    const isTold = own.some(({ role }) => role === 'system' || role === 'developer');
    const first: Message[] = system && !isTold ? [{ role: 'system', content: system }] : [];
    const start = own.findIndex(({ role }) => role !== 'system' && role !== 'developer');
    const begin = start < 0 ? own.length : start;
    return [...first, ...own.slice(0, begin), ...messages, ...own.slice(begin)];
  }

  /** A name that may be given to a model. */
  async #free(name: string): Promise<string> {
    const plain = plainName(name);
    if (!NAME.test(plain))
      throw new Failure(
        'bad_request',
        `"${name.slice(0, 200)}" cannot be the name of a model: letters, digits, ".", "_" and "-" are allowed, with up to two slashes and a ":tag".`,
        { code: 'InvalidModelName' },
      );
    if (this.find(plain)) return plain;
    const isTaken = await this.#known.require(plain).then(
      () => true,
      (error: unknown) => !(error instanceof Failure && FREE.has(error.code)),
    );
    if (isTaken) throw new Failure('conflict', `${plain} is a model of this machine; choose another name.`, { code: 'ModelExists' });
    if (this.#store.namedModels.keys({ limit: MODEL_LIMIT }).length >= MODEL_LIMIT)
      throw new Failure('too_many', `${MODEL_LIMIT} models were made, the most that are kept; delete one.`);
    return plain;
  }
}

function memberIfSet<Name extends string, Value>(name: Name, value: Value | undefined | null): { [N in Name]?: Value } {
  return value === undefined || value === null ? {} : ({ [name]: value } as { [N in Name]: Value });
}

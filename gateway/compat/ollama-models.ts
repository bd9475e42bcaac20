import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { BUILT_IN_MODELS, requireRemovable } from '../../models/built-in.js';
import { capabilitiesOf } from '../../runtime/completions/capabilities.js';
import { type ModelDefinition, modelfileOf, parameterLines, parsedModelfile } from '../../runtime/completions/modelfiles/modelfile.js';
import type { NamedModel } from '../../runtime/completions/modelfiles/named-models.js';
import { plainName } from '../../runtime/completions/modelfiles/named-models.js';
import { ggufHeader } from '../../runtime/formats/gguf/header.js';
import { type CachedModel, cachedModels } from '../../runtime/models/cache/list.js';
import type { FoundModel } from '../../runtime/models/find/contract.js';
import { findGguf } from '../../runtime/models/find/gguf.js';
import { libraryName } from '../../runtime/models/find/ollama-library.js';
import { findRepository } from '../../runtime/models/find/repository.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { Endpoint, Reply, Request } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type {
  CopyRequest,
  CreateRequest,
  Details,
  ModelList,
  RunningList,
  ShowResponse,
} from '../../schemas/generated/universal/ollama.js';
import { modelIn, ollamaEndpoint } from './ollama-endpoint.js';

/** Models that complete texts or turn them into vectors; the rest of a cache are parts of speech and pictures. */
const RUN_AS: ReadonlySet<string> = new Set(['gguf', 'onnx']);
/** When a model that is kept for ever would leave; Ollama's clients read a time. */
const NEVER = '2318-01-01T00:00:00Z';
const BILLION = 1e9;
const MILLION = 1e6;

type Shown = ModelList['models'][number];

/** What tells two states of a model apart, in the form of a digest. */
const digestOf = (...facts: readonly (string | number)[]): string => createHash('sha256').update(facts.join('\0')).digest('hex');

/** A name as Ollama's clients show it: with a tag. */
const withTag = (name: string): string => (/:[^/]*$/.test(name) ? name : `${name}:latest`);

const details = (format: string, quantisation = '', family = '', size = ''): Details => ({
  parent_model: '',
  format,
  family,
  families: family === '' ? null : [family],
  parameter_size: size,
  quantization_level: quantisation,
});

/** `file` is the name, or a file of the models folder that is named without its ending. */
function renderModel(file: string, sizeBytes: number, modifiedAt: Date, of: Details): Shown {
  const name = file.replace(/\.gguf$/i, '');
  const shown = withTag(name);
  return {
    name: shown,
    model: shown,
    modified_at: modifiedAt.toISOString(),
    size: sizeBytes,
    digest: digestOf(name, sizeBytes, modifiedAt.getTime()),
    details: of,
  };
}

/** When a file came to this machine; packages give the files in them a time of their own. */
async function cameAt(file: string): Promise<Date> {
  return (await stat(file)).ctime;
}

async function builtInModel({ id, sizeBytes, weights }: FoundModel): Promise<Shown> {
  // The file is the same wherever it was put, and so is its digest.
  return { ...renderModel(id, sizeBytes, new Date(0), details('gguf')), modified_at: (await cameAt(weights[0])).toISOString() };
}

async function builtIn(runtime: Runtime): Promise<Shown[]> {
  const found = await Promise.all(BUILT_IN_MODELS.map(({ name }) => findGguf(name, runtime.models.places).catch(() => undefined)));
  return Promise.all(found.flatMap((one) => (one ? [builtInModel(one)] : [])));
}

/** The same with what the files of the model say of it, as far as they can be read; of `base`, where it is made of that. */
async function withFacts(runtime: Runtime, shown: Shown, base: string): Promise<Shown> {
  const facts = await factsOf(runtime, base).catch(() => undefined);
  if (!facts) return shown;
  const { family, families, parameter_size, quantization_level } = facts.details;
  const known = { ...shown.details, family, families, parameter_size };
  return { ...shown, details: { ...known, quantization_level: known.quantization_level || quantization_level } };
}

/** A model of the cache or the models folder, by each quantisation where it has several. */
function shownOf({ id, format, quantisations, sizeBytes, modifiedAt }: CachedModel): Shown[] {
  const names =
    quantisations.length > 1 ? quantisations.map((one) => [`${id}:${one}`, one] as const) : [[id, quantisations[0] ?? ''] as const];
  return names.map(([name, quantisation]) => renderModel(name, sizeBytes, modifiedAt, details(format, quantisation)));
}

/** Every model that a request can name: those made of others, the built-in ones, and those of the cache and the models folder, one for each quantisation. */
async function allModels(runtime: Runtime): Promise<Shown[]> {
  const cached = await cachedModels({ ...runtime.models.places, hub: runtime.hub.cache });
  const made = runtime.named
    .list()
    .map(({ name, from, atMs }) => renderModel(name, 0, new Date(atMs), { ...details('gguf'), parent_model: from }));
  const taken = new Set(made.map(({ name }) => name));
  const own = cached
    .filter(({ format }) => RUN_AS.has(format))
    .flatMap((model) => {
      const rows = shownOf(model);
      // Clients look here for the name by which they pulled.
      const library = model.source === 'hub' ? libraryName(model.id) : undefined;
      const name = library && withTag(library);
      return name && !taken.has(name) ? [...rows, { ...rows[0]!, name, model: name }] : rows;
    });
  return [...made, ...(await builtIn(runtime)), ...own].sort((a, b) => b.modified_at.localeCompare(a.modified_at));
}

/** False for a model that speaks, hears, sees or ranks: clients offer for chats what is listed. A broken GGUF file stays listed, and says what is wrong when it is asked. */
async function writesOrEmbeds(runtime: Runtime, base: string, format: string): Promise<boolean> {
  const able = await capabilitiesOf(base, runtime.models).catch(() => undefined);
  return able ? able.tools || able.embeddings : format === 'gguf';
}

async function tags(runtime: Runtime): Promise<ModelList> {
  const models: Shown[] = [];
  // One file is read after the other: there may be many.
  for (const one of await allModels(runtime)) {
    const { format, parent_model: parent } = one.details;
    const base = parent || plainName(one.name);
    if (await writesOrEmbeds(runtime, base, format)) models.push(format === 'gguf' ? await withFacts(runtime, one, base) : one);
  }
  return { models };
}

/** The models of this machine that answer chats, the newest first: their names as requests have them, and when they came. */
export async function chatModels(runtime: Runtime): Promise<{ name: string; modifiedAt: string }[]> {
  const models: { name: string; modifiedAt: string }[] = [];
  for (const { name: shown, modified_at: modifiedAt, details: of } of await allModels(runtime)) {
    const name = plainName(shown);
    const able = await capabilitiesOf(of.parent_model || name, runtime.models).catch(() => undefined);
    if (able && able.chat_template !== null) models.push({ name, modifiedAt });
  }
  return models;
}

async function running(runtime: Runtime): Promise<RunningList> {
  const loaded = runtime.models.loaded().filter(({ type }) => type === 'language' || type === 'encoder_embedding');
  const known = new Map((await allModels(runtime)).map((one) => [one.name, one]));
  const models = await Promise.all(
    loaded.map(async ({ name, key, staysMs, status }) => {
      const found = await findGguf(name, runtime.models.places).catch(() => undefined);
      const same = known.get(withTag(name)) ?? known.get(`${found?.id.replace(/\.gguf$/i, '')}:${found?.quantisation}`);
      const facts = await factsOf(runtime, name).catch(() => undefined);
      const size = found?.sizeBytes ?? 0;
      const onCard = status.devices.used.some((device) => !/cpu/i.test(device));
      const context = status.options?.n_ctx;
      return {
        name: withTag(name),
        model: withTag(name),
        size,
        digest: same?.digest ?? digestOf(key),
        details: facts?.details ?? details(found ? 'gguf' : 'onnx', found?.quantisation ?? ''),
        expires_at: Number.isFinite(staysMs) ? new Date(Date.now() + staysMs).toISOString() : NEVER,
        size_vram: onCard ? size : 0,
        ...(typeof context === 'number' ? { context_length: context } : {}),
      };
    }),
  );
  return { models: eachOnce(models) };
}

/** One row a name: a model that is in memory with several settings takes the memory of all, and stays as long as the last of them. */
function eachOnce(rows: readonly RunningList['models'][number][]): RunningList['models'] {
  const byName = new Map<string, RunningList['models'][number]>();
  for (const row of rows) {
    const other = byName.get(row.name);
    if (!other) byName.set(row.name, row);
    else
      byName.set(row.name, {
        ...row,
        ...other,
        size: other.size + row.size,
        size_vram: other.size_vram + row.size_vram,
        expires_at: other.expires_at > row.expires_at ? other.expires_at : row.expires_at,
      });
  }
  return [...byName.values()];
}

const amount = (parameters: number): string =>
  parameters >= BILLION ? `${(parameters / BILLION).toFixed(1)}B` : `${(parameters / MILLION).toFixed(2)}M`;

/** What the file of a model says of it; an ONNX export has no such head. */
async function factsOf(
  runtime: Runtime,
  base: string,
): Promise<{ template: string; details: Details; info: Record<string, unknown>; at: string }> {
  const found = await findGguf(base, runtime.models.places).catch((absent: unknown) =>
    findRepository(base, runtime.models.places).then(
      () => undefined,
      () => {
        throw absent;
      },
    ),
  );
  if (!found) return { template: '', details: details('onnx'), info: {}, at: new Date(0).toISOString() };
  const header = await ggufHeader(found.weights[0], 'embedding');
  const { architecture, contextLength, width, layers, heads, parameters, mainType } = header;
  return {
    template: header.template,
    details: details('gguf', found.quantisation ?? mainType, architecture, amount(parameters)),
    info: {
      'general.architecture': architecture,
      'general.basename': header.name,
      'general.parameter_count': parameters,
      [`${architecture}.context_length`]: contextLength,
      [`${architecture}.embedding_length`]: width,
      [`${architecture}.block_count`]: layers,
      [`${architecture}.attention.head_count`]: heads,
      'tokenizer.ggml.tokens': null,
    },
    at: (await cameAt(found.weights[0])).toISOString(),
  };
}

/** What Ollama calls the abilities of a model. */
async function abilitiesOf(runtime: Runtime, base: string): Promise<string[]> {
  const can = await capabilitiesOf(base, runtime.models);
  const chats = can.chat_template !== null;
  return [
    ...(chats ? ['completion'] : []),
    ...(can.embeddings && !chats ? ['embedding'] : []),
    ...(can.tools ? ['tools'] : []),
    ...(can.thinking ? ['thinking'] : []),
    ...(can.vision ? ['vision'] : []),
  ];
}

async function show(runtime: Runtime, request: Request): Promise<ShowResponse> {
  const name = modelIn(request);
  const named: NamedModel | undefined = runtime.named.find(name);
  const base = named?.from ?? name;
  const [facts, capabilities] = await Promise.all([factsOf(runtime, base), abilitiesOf(runtime, base)]);
  const template = named?.givenTemplate ?? named?.template;
  const { system, parameters = {}, messages = [], license = [] } = named ?? {};
  return {
    modelfile: modelfileOf({
      ...named,
      from: base,
      messages: [...messages],
      license: [...license],
      ...(template ? { template } : {}),
    } as ModelDefinition),
    parameters: parameterLines(parameters).join('\n'),
    template: template ?? facts.template,
    ...(system === undefined ? {} : { system }),
    ...(license.length > 0 ? { license: license.join('\n') } : {}),
    ...(messages.length > 0 ? { messages: messages.map((one) => ({ ...one })) } : {}),
    details: named ? { ...facts.details, parent_model: base } : facts.details,
    model_info: facts.info,
    capabilities,
    modified_at: named ? new Date(named.atMs).toISOString() : facts.at,
  };
}

/** Members of the JSON form that stand for weights sent to the server. */
function refuseUploads({ files, quantize }: CreateRequest): void {
  if (files && Object.keys(files).length > 0)
    throw new Failure(
      'bad_request',
      '"files" names uploaded weights, which are not taken: put the file into the models folder and name it by its path in "from".',
      {
        code: 'UploadsUnsupported',
      },
    );
  if (quantize)
    throw new Failure(
      'bad_request',
      `"quantize" is "${quantize}", and weights are not quantised here: pull the model in that quantisation, as org/repo:${quantize.toUpperCase()}.`,
      {
        code: 'QuantizeUnsupported',
      },
    );
}

async function create(runtime: Runtime, request: Request): Promise<Reply> {
  const body = request.body as CreateRequest;
  const name = modelIn(request);
  refuseUploads(body);
  await runtime.named.create(name, body.modelfile ? parsedModelfile(body.modelfile) : body);
  const end = { status: 'success' };
  if (body.stream === false) return { json: end };
  async function* lines(): AsyncGenerator<string, void, undefined> {
    yield `${JSON.stringify({ status: 'writing manifest' })}\n${JSON.stringify(end)}\n`;
  }
  return { lines: true, events: lines() };
}

/** Removes a model that was made of another one, else one of the hub cache, which leaves the memory first where nobody uses it: Ollama's clients know no other way. */
async function remove(runtime: Runtime, request: Request): Promise<Reply> {
  const name = modelIn(request);
  if (await runtime.named.remove(name)) return {};
  requireRemovable(plainName(name));
  await runtime.models.unload(plainName(name));
  await runtime.hub.remove(plainName(name), () => runtime.models.keys(), runtime.models.places.folder);
  return {};
}

/** The models of this machine as Ollama's clients see and change them. */
export const ollamaModels: Endpoint<Runtime>[] = [
  ollamaEndpoint({
    method: 'GET',
    path: '/api/tags',
    id: 'ollama_tags',
    access: 'users',
    summary: 'List the models on this machine, as Ollama does',
    response: 'universal/ollama#ModelList',
    handler: async (runtime) => ({ json: await tags(runtime) }),
  }),
  ollamaEndpoint({
    method: 'GET',
    path: '/api/ps',
    id: 'ollama_ps',
    access: 'users',
    summary: 'List the models in memory, as Ollama does',
    response: 'universal/ollama#RunningList',
    handler: async (runtime) => ({ json: await running(runtime) }),
  }),
  ollamaEndpoint({
    method: 'POST',
    path: '/api/show',
    id: 'ollama_show',
    access: 'users',
    summary: 'Tell what a model is, as Ollama does',
    body: 'universal/ollama#ShowRequest',
    response: 'universal/ollama#ShowResponse',
    handler: async (runtime, request) => ({ json: await show(runtime, request) }),
  }),
  ollamaEndpoint({
    method: 'POST',
    path: '/api/create',
    id: 'ollama_create',
    access: 'admins',
    summary: 'Make a model of another one',
    body: 'universal/ollama#CreateRequest',
    response: 'universal/ollama#Status',
    streams: 'lines',
    handler: create,
  }),
  ollamaEndpoint({
    method: 'POST',
    path: '/api/copy',
    id: 'ollama_copy',
    access: 'admins',
    summary: 'Give a model a second name',
    body: 'universal/ollama#CopyRequest',
    handler: async (runtime, { body }) => {
      const { source, destination } = body as CopyRequest;
      await runtime.named.copy(source, destination);
      return {};
    },
  }),
  ollamaEndpoint({
    method: 'DELETE',
    path: '/api/delete',
    id: 'ollama_delete',
    access: 'admins',
    summary: 'Remove a model, as Ollama does',
    body: 'universal/ollama#DeleteRequest',
    handler: remove,
  }),
];

import type { Runtime } from '../../runtime/runtime.js';
import type { Endpoint, Request } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { Model, ModelList } from '../../schemas/generated/universal/anthropic.js';
import { ANTHROPIC_VERSION } from '../http/call.js';
import { chatModels } from './ollama-models.js';

const rendered = ({ name, modifiedAt }: { name: string; modifiedAt: string }): Model => ({
  type: 'model',
  id: name,
  display_name: name,
  created_at: modifiedAt,
});

/** All of them are one page. */
async function list(runtime: Runtime): Promise<ModelList> {
  const data = (await chatModels(runtime)).map(rendered);
  return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
}

async function one(runtime: Runtime, { params }: Request): Promise<Model> {
  const name = params.model_id!;
  await runtime.models.require(runtime.named.baseOf(name));
  const found = (await chatModels(runtime)).find((model) => model.name === name);
  if (found) return rendered(found);
  throw new Failure('not_found', `model: ${name} answers no chats; GET /v1/models lists those that do.`);
}

const HANDLERS: Readonly<Record<string, (runtime: Runtime, request: Request) => Promise<object>>> = { list_models: list, get_model: one };

/** The endpoint with an answer of Anthropic's form for its clients, where their API has the same path; other endpoints as they are. */
export function inAnthropicsForm(shared: Endpoint<Runtime>): Endpoint<Runtime> {
  const own = HANDLERS[shared.id];
  if (!own) return shared;
  return {
    ...shared,
    handler: async (runtime, request) =>
      request.header(ANTHROPIC_VERSION) === undefined ? shared.handler(runtime, request) : { json: await own(runtime, request) },
  };
}

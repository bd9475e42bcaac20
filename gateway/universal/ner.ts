import type { Runtime } from '../../runtime/runtime.js';
import { type Endpoint, endpoint, type Reply, type Request } from '../../schemas/endpoint.js';
import type { NerRequest, NerResponse } from '../../schemas/generated/universal/encoders.js';
import { askOf, TEXTS_BYTES, textsOf, usageOf } from './encoder-asks.js';

async function recognise(runtime: Runtime, request: Request): Promise<Reply> {
  const body = request.body as NerRequest;
  const { entities, tokens } = await runtime.encoders.entities(askOf(body, request), textsOf(body));
  const json: NerResponse = {
    object: 'list',
    data: entities.map((found, index) => ({ index, entities: found.map((entity) => ({ ...entity })) })),
    model: body.model,
    usage: usageOf(tokens),
  };
  return { json };
}

/** Named things in texts. */
export const nerEndpoints: Endpoint<Runtime>[] = [
  endpoint({
    method: 'POST',
    path: '/v1/ner',
    id: 'find_entities',
    summary: 'Find the named things in texts',
    tag: 'encoders',
    body: 'universal/encoders#NerRequest',
    response: 'universal/encoders#NerResponse',
    bodyLimitBytes: TEXTS_BYTES,
    handler: recognise,
  }),
];

import { trialDifferences } from '../../runtime/chat/trial.js';
import { withFetchRight } from '../../runtime/models/fetch/on-use.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type Endpoint, endpoint, type Request } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { ProjectConfig } from '../../schemas/generated/config/project.js';
import type { DryRun, DryRunReply, DryRunRequest, TrialQuestion, TriedQuestion } from '../../schemas/generated/core/generations.js';
import { type ProjectPlace, placeOf } from './place.js';

const GENERATIONS = '/v1/projects/{namespace}/{project}/generations';
const GENERATION = `${GENERATIONS}/{generation}`;
const NAMES = { generation: 'core/generations#Number' } as const;
const DEFAULT_LAST = 5;
/** Events that are looked at for some that can be run again. */
const LOOKED_AT = 100;
const tag = 'projects';

function numberOf({ params: { generation = '' } }: Request): number {
  if (/^[1-9]\d{0,14}$/.test(generation)) return Number(generation);
  throw new Failure('bad_request', `"${generation}" is no generation: give a number such as 3, as the list has them.`);
}

/** The newest recorded chats of a project that can be run again. */
async function replayableEvents({ events }: Runtime, at: ProjectPlace, most: number): Promise<string[]> {
  const ids: string[] = [];
  if (most === 0) return ids;
  const found = await events.list(...at, { type: 'inference', status: 'completed', limit: LOOKED_AT, offset: 0 });
  for (const { event_id } of found.events) {
    if (ids.length === most) break;
    const { metadata, data } = await events.get(...at, event_id);
    // What was only run again says nothing that the first chat does not.
    if (
      metadata.content === 'full' &&
      metadata.cut !== true &&
      metadata.replay_of === undefined &&
      Array.isArray((data as { messages?: unknown }).messages)
    )
      ids.push(event_id);
  }
  return ids;
}

/** Asks a question on the settings of now and on those of a generation. */
async function compareAnswers(
  { chat }: Runtime,
  at: ProjectPlace,
  question: TrialQuestion,
  config: ProjectConfig,
  signal: AbortSignal,
): Promise<TriedQuestion> {
  const now = await chat.tried(...at, question, undefined, signal);
  const would = await chat.tried(...at, question, config, signal);
  return { query: question.query, database: question.database ?? null, now, would, differs: trialDifferences(now, would) };
}

const CHANGES: ReadonlySet<string> = new Set(['text', 'passages', 'status']);
const isChanged = ({ differs }: { readonly differs: readonly string[] }): boolean => differs.some((what) => CHANGES.has(what));

/** Runs recorded chats, or asks questions, on the settings of a generation, one after the other. */
async function dryRun(runtime: Runtime, request: Request): Promise<DryRunReply> {
  const { chat, events, generations } = runtime;
  const at = placeOf(request);
  const generation = numberOf(request);
  const { events: named, last, questions = [] } = request.body as DryRunRequest;
  const config = await generations.config(...at, generation);
  const runs: DryRun[] = [];
  // Questions take the place of recorded chats, unless those are asked for too.
  const most = last ?? (questions.length > 0 ? 0 : DEFAULT_LAST);
  for (const id of named ?? (await replayableEvents(runtime, at, most))) {
    const { recorded, replayed, differs, notes } = await chat.replay(...at, id, { config }, request.signal);
    const { messages = [] } = (await events.get(...at, id)).data as { messages?: { role: string; content: unknown }[] };
    const said = messages.findLast(({ role }) => role === 'user')?.content;
    runs.push({ event_id: id, question: typeof said === 'string' ? said : null, recorded, replayed, differs, notes });
  }
  const answers: TriedQuestion[] = [];
  for (const question of questions) answers.push(await compareAnswers(runtime, at, question, config, request.signal));
  return { generation, runs, questions: answers, changed: [...runs, ...answers].filter(isChanged).length };
}

/** What a project file said, from change to change: list, read, compare, try and restore. */
export const generationEndpoints: Endpoint<Runtime>[] = [
  endpoint<Runtime>({
    method: 'GET',
    path: GENERATIONS,
    id: 'generations_list',
    access: 'members',
    summary: 'List what the project file said, the newest first',
    tag,
    response: 'core/generations#GenerationList',
    handler: async ({ generations }, request) => ({ json: await generations.list(...placeOf(request)) }),
  }),
  endpoint<Runtime>({
    method: 'GET',
    path: GENERATION,
    names: NAMES,
    id: 'generation_get',
    access: 'members',
    summary: 'Read the configuration of a generation',
    tag,
    response: 'core/generations#GenerationDetail',
    handler: async ({ generations }, request) => ({ json: await generations.get(...placeOf(request), numberOf(request)) }),
  }),
  endpoint<Runtime>({
    method: 'GET',
    path: `${GENERATION}/diff`,
    names: NAMES,
    id: 'generation_diff',
    access: 'members',
    summary: 'Compare a generation with another, or with the current one',
    tag,
    query: 'core/generations#DiffQuery',
    response: 'core/generations#Diff',
    handler: async ({ generations }, request) => ({
      json: await generations.diff(...placeOf(request), numberOf(request), (request.query as { to?: number }).to),
    }),
  }),
  endpoint<Runtime>({
    method: 'POST',
    path: `${GENERATION}/dry-run`,
    names: NAMES,
    id: 'generation_dry_run',
    access: 'writers',
    summary: 'Run recorded chats again, or ask questions, on the settings of a generation, and say what changes',
    tag,
    body: 'core/generations#DryRunRequest',
    response: 'core/generations#DryRunReply',
    handler: async (runtime, request) => ({ json: await withFetchRight('nothing', () => dryRun(runtime, request)) }),
  }),
  endpoint<Runtime>({
    method: 'POST',
    path: `${GENERATION}/restore`,
    names: NAMES,
    id: 'generation_restore',
    access: 'writers',
    summary: 'Make the text of a generation that of the project file again',
    tag,
    response: 'core/projects#ProjectReply',
    handler: async ({ generations }, request) => ({ json: { project: await generations.restore(...placeOf(request), numberOf(request)) } }),
  }),
];

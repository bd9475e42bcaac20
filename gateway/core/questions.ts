import { measureRecall } from '../../runtime/library/recall-measure.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type Endpoint, endpoint, type Request } from '../../schemas/endpoint.js';
import type { ListQuery, NewQuestion, QuestionChange, RecallReply, RecallRequest } from '../../schemas/generated/core/questions.js';
import { placeOf } from './place.js';

const QUESTIONS = '/v1/projects/{namespace}/{project}/questions';
const QUESTION = `${QUESTIONS}/{question_id}`;
const tag = 'rag';
const PAGE = 200;

async function recall({ projects, questions, retrieval }: Runtime, request: Request): Promise<RecallReply> {
  const asked = request.body as RecallRequest;
  const project = projects.load(...placeOf(request));
  const { progress } = request;
  const tell = progress && ((done: number, total: number): void => progress({ done, total, text: `${done} of ${total} queries` }));
  const all = await questions.all(...placeOf(request), asked.questions);
  return measureRecall({ project, retrieval, questions: all, signal: request.signal, tell }, asked);
}

/** Test questions of a project, and how well its retrieval strategies answer them. */
export const questionEndpoints: Endpoint<Runtime>[] = [
  endpoint<Runtime>({
    method: 'GET',
    path: QUESTIONS,
    id: 'questions_list',
    access: 'members',
    summary: 'List the test questions of the project',
    tag,
    query: 'core/questions#ListQuery',
    response: 'core/questions#QuestionList',
    handler: async ({ questions }, request) => {
      const { limit = PAGE, cursor } = request.query as ListQuery;
      return { json: await questions.list(...placeOf(request), limit, cursor) };
    },
  }),
  endpoint<Runtime>({
    method: 'POST',
    path: QUESTIONS,
    id: 'question_add',
    access: 'writers',
    summary: 'Keep a test question',
    tag,
    body: 'core/questions#NewQuestion',
    response: 'core/questions#QuestionReply',
    status: 201,
    handler: async ({ questions }, request) => ({
      status: 201,
      json: { question: await questions.add(...placeOf(request), request.body as NewQuestion) },
    }),
  }),
  endpoint<Runtime>({
    method: 'POST',
    path: `${QUESTIONS}/recall`,
    id: 'questions_recall',
    access: 'members',
    summary: 'Ask the test questions by several strategies, and tell what each finds',
    tag,
    body: 'core/questions#RecallRequest',
    response: 'core/questions#RecallReply',
    handler: async (runtime, request) => ({ json: await recall(runtime, request) }),
  }),
  endpoint<Runtime>({
    method: 'PATCH',
    path: QUESTION,
    id: 'question_change',
    access: 'writers',
    summary: 'Change a test question',
    tag,
    body: 'core/questions#QuestionChange',
    response: 'core/questions#QuestionReply',
    handler: async ({ questions }, request) => ({
      json: { question: await questions.change(...placeOf(request), request.params.question_id!, request.body as QuestionChange) },
    }),
  }),
  endpoint<Runtime>({
    method: 'DELETE',
    path: QUESTION,
    id: 'question_delete',
    access: 'writers',
    summary: 'Delete a test question',
    tag,
    response: 'core/questions#QuestionDeleted',
    handler: async ({ questions }, request) => {
      const id = request.params.question_id!;
      await questions.delete(...placeOf(request), id);
      return { json: { message: `Question ${id} deleted` } };
    },
  }),
];

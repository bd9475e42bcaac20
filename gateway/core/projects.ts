import { breathe } from '../../runtime/base/loop.js';
import { listModels } from '../../runtime/projects/loaded-project.js';
import type { Projects } from '../../runtime/projects/projects.js';
import { checkText, readText, replaceText } from '../../runtime/projects/texts.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type Endpoint, endpoint, type WholeReply } from '../../schemas/endpoint.js';
import type { AllProjects, ProjectCreate, ProjectUpdate, TextToCheck, TextUpdate } from '../../schemas/generated/core/projects.js';
import { placeOf } from './place.js';

const NAMESPACE = '/v1/projects/{namespace}';
const PROJECT = `${NAMESPACE}/{project}`;
/** A text of 1 MiB as JSON, where each character may be an escape. */
const TEXT_BYTES = 7 * 1024 * 1024;
const JSON_TYPE = 'application/json';

function listReply(bytes: Uint8Array): WholeReply {
  return { bytes, contentType: JSON_TYPE };
}

/** By name alone: a file that cannot be read is listed too. */
async function allProjects(projects: Projects, own: string | undefined): Promise<AllProjects> {
  const found: AllProjects['projects'] = [];
  for (const namespace of projects.namespaces().toSorted()) {
    for (const name of projects.names(namespace).toSorted()) found.push({ namespace, name });
    await breathe();
  }
  return { projects: found, total: found.length, ...(own === undefined ? {} : { own_namespace: own }) };
}

/** The project endpoints: list, create, read, replace, delete, and the models of one. */
export const projectEndpoints: Endpoint<Runtime>[] = [
  endpoint<Runtime>({
    method: 'GET',
    path: '/v1/projects',
    id: 'projects_all',
    access: 'users',
    summary: 'List the projects of all namespaces',
    tag: 'projects',
    response: 'core/projects#AllProjects',
    handler: async ({ projects }, { visitor }) => ({ json: await allProjects(projects, visitor?.ownNamespace) }),
  }),
  endpoint<Runtime>({
    method: 'GET',
    path: NAMESPACE,
    id: 'projects_list',
    access: 'members',
    summary: 'List the projects of a namespace',
    tag: 'projects',
    tool: 'reads',
    response: 'core/projects#ProjectList',
    handler: ({ projects }, { params }) => {
      const bytes = projects.listBytes(params.namespace!);
      return bytes instanceof Promise ? bytes.then(listReply) : listReply(bytes);
    },
  }),
  endpoint<Runtime>({
    method: 'POST',
    path: NAMESPACE,
    names: { namespace: 'common#OpenNamespace' },
    id: 'project_create',
    access: 'founders',
    summary: 'Create a project from a template',
    tag: 'projects',
    tool: 'adds',
    body: 'core/projects#ProjectCreate',
    response: 'core/projects#ProjectReply',
    handler: async ({ projects }, { params, body }) => ({
      json: { project: await projects.create(params.namespace!, body as ProjectCreate) },
    }),
  }),
  endpoint<Runtime>({
    method: 'GET',
    path: PROJECT,
    id: 'project_get',
    access: 'members',
    summary: 'Read a project',
    tag: 'projects',
    tool: 'reads',
    response: 'core/projects#ProjectReply',
    handler: ({ projects }, request) => ({ bytes: `{"project":${projects.json(...placeOf(request))}}`, contentType: JSON_TYPE }),
  }),
  endpoint<Runtime>({
    method: 'PUT',
    path: PROJECT,
    id: 'project_update',
    access: 'writers',
    summary: 'Replace the configuration of a project',
    tag: 'projects',
    tool: 'changes',
    body: 'core/projects#ProjectUpdate',
    response: 'core/projects#ProjectReply',
    handler: async ({ projects }, request) => {
      const { config } = request.body as ProjectUpdate;
      return { json: { project: await projects.put(...placeOf(request), config) } };
    },
  }),
  endpoint<Runtime>({
    method: 'DELETE',
    path: PROJECT,
    id: 'project_delete',
    access: 'writers',
    summary: 'Return a project; delete it with purge=true, or where the daemon was started with --delete-projects',
    tag: 'projects',
    tool: 'removes',
    query: 'core/projects#DeleteQuery',
    response: 'core/projects#ProjectReply',
    handler: async ({ projects }, request) => ({
      json: { project: await projects.delete(...placeOf(request), request.query) },
    }),
  }),
  endpoint<Runtime>({
    method: 'GET',
    path: `${PROJECT}/text`,
    id: 'project_text_get',
    access: 'members',
    summary: 'Read the text of the project file, with its comments and without its secrets',
    tag: 'projects',
    response: 'core/projects#ProjectText',
    handler: async ({ projects }, request) => ({ json: await readText(projects, ...placeOf(request)) }),
  }),
  endpoint<Runtime>({
    method: 'PUT',
    path: `${PROJECT}/text`,
    id: 'project_text_update',
    access: 'writers',
    summary: 'Replace the text of the project file',
    tag: 'projects',
    body: 'core/projects#TextUpdate',
    bodyLimitBytes: TEXT_BYTES,
    response: 'core/projects#TextSaved',
    handler: async ({ projects }, request) => ({ json: await replaceText(projects, ...placeOf(request), request.body as TextUpdate) }),
  }),
  endpoint<Runtime>({
    method: 'POST',
    path: `${PROJECT}/text/check`,
    id: 'project_text_check',
    access: 'members',
    summary: 'Say what is wrong with a text for the project file, without saving it',
    tag: 'projects',
    body: 'core/projects#TextToCheck',
    bodyLimitBytes: TEXT_BYTES,
    response: 'core/projects#TextCheck',
    handler: async ({ projects }, request) => ({
      json: await checkText(projects, ...placeOf(request), (request.body as TextToCheck).text),
    }),
  }),
  endpoint<Runtime>({
    method: 'GET',
    path: `${PROJECT}/models`,
    id: 'models_list',
    access: 'members',
    summary: 'List the models configured for a project',
    tag: 'projects',
    tool: 'reads',
    response: 'core/projects#ModelList',
    handler: ({ projects }, request) => ({ json: listModels(projects.load(...placeOf(request)).config) }),
  }),
];

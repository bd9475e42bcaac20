import type { ProjectList, ProjectReply } from '../../schemas/generated/core/projects.js';
import { route, withDaemon } from '../daemon/client.js';
import { type Run, readProject, textOf } from '../verb.js';

/** The projects of a namespace. */
export const projects: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const [namespace = 'default'] = call.words;
    const list = await daemon.ask<ProjectList>(route`/v1/projects/${namespace}`);
    return {
      result: list,
      show: () => {
        const rows = list.projects.map((one) => [`${namespace}/${one.name}`, one.last_modified ?? '', one.validation_error ?? '']);
        if (rows.length === 0)
          call.out.line(`the namespace ${namespace} has no project; "quern projects create ${namespace}/NAME" makes one`);
        else call.out.table(['PROJECT', 'CHANGED', 'PROBLEM'], rows);
      },
    };
  });

/** Makes a project, from a template where one is named. */
export const createProject: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const { namespace, project } = readProject(call.words[0]!);
    const template = textOf(call, 'template');
    const json = { name: project, ...(template === undefined ? {} : { config_template: template }) };
    const made = await daemon.ask<ProjectReply>(route`/v1/projects/${namespace}`, { json });
    return {
      result: made,
      show: () => call.out.line(`made ${namespace}/${project}; "quern chat -p ${namespace}/${project}" talks with it`),
    };
  });

/** Removes a project with everything that it keeps. */
export const removeProject: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const { namespace, project } = readProject(call.words[0]!);
    const gone = await daemon.ask<unknown>(`${route`/v1/projects/${namespace}/${project}`}?purge=true`, { method: 'DELETE' });
    return { result: gone, show: () => call.out.line(`removed ${namespace}/${project} with its documents, sessions and events`) };
  });

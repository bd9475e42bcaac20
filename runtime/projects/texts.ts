import { Failure } from '../../schemas/errors.js';
import type { Project, ProjectText, TextCheck } from '../../schemas/generated/core/projects.js';
import { freshYaml } from '../config/edit.js';
import type { FileText, ParsedText } from '../config/masked-text.js';
import { checkTree, MAX_SENT_MEMBERS, Unparsable } from '../config/parse.js';
import { invalidConfig, type Path } from '../config/problems.js';
import { settingNotes, validateConfig } from '../config/validate.js';
import { maskLargeText, unmaskLargeText } from '../config/yaml-worker.js';
import { stampOf } from './loaded-project.js';
import type { Projects } from './projects.js';

/** Where a text that is sent lies in its request, before the path of what is wrong in it. */
const WHERE: Path = ['body', 'text'];

/** The text of a project file for an editor: YAML with its comments and without its secrets. Throws `not_found`. */
export async function readText(projects: Projects, namespace: string, name: string): Promise<ProjectText> {
  const present = projects.present(namespace, name);
  if (present) return { text: await maskLargeText(present), stamp: stampOf(present.text), format: present.format };
  const text = freshYaml(projects.get(namespace, name).config);
  return { text, stamp: stampOf(text), format: 'yaml' };
}

/** What would stand in the way of saving a text, and what in it has no effect; nothing is written. */
export async function checkText(projects: Projects, namespace: string, name: string, text: string): Promise<TextCheck> {
  try {
    const { value } = await completeText(projects.present(namespace, name), text);
    const { config, errors, warnings } = validateConfig(value, namespace, name);
    if (!config || warnings.length > 0) throw invalidConfig('The text', [...errors, ...warnings], WHERE);
    return { problems: [], notes: settingNotes(config) };
  } catch (failure) {
    if (!(failure instanceof Failure) || failure.kind !== 'invalid' || !failure.errors) throw failure;
    return { problems: failure.errors.map(({ loc, msg, type }) => ({ loc: [...loc.slice(WHERE.length)], msg, type })), notes: [] };
  }
}

/**
 * Replaces the text of a project file; a secret that comes as it was shown, as `***`, stays what it is. Throws `conflict` (ProjectChanged) where the file's stamp is
 * not `stamp` any more, `invalid` as replacing the configuration does.
 */
export async function replaceText(
  projects: Projects,
  namespace: string,
  name: string,
  { text, stamp }: { text: string; stamp?: string },
): Promise<{ project: Project; text: ProjectText }> {
  const project = await projects.putText(namespace, name, 'api', (present) => {
    if (stamp !== undefined && present && stampOf(present.text) !== stamp) {
      const message = `The file of project ${namespace}/${name} was changed since it was read. Read it again, and save what you want of both.`;
      throw new Failure('conflict', message, { code: 'ProjectChanged' });
    }
    return completeText(present, text);
  });
  return { project, text: await readText(projects, namespace, name) };
}

async function completeText(present: FileText | null, text: string): Promise<ParsedText> {
  try {
    const whole = await unmaskLargeText(text, present, WHERE);
    checkTree(whole.value, MAX_SENT_MEMBERS);
    return whole;
  } catch (cause) {
    if (!(cause instanceof Unparsable)) throw cause;
    throw invalidConfig('The text', [{ path: [], reason: cause.message, type: 'yaml' }], WHERE);
  }
}

import { resolveText, variablesOf } from '../../runtime/chat/templates.js';
import type { LoadedProject } from '../../runtime/projects/projects.js';
import type { Runtime } from '../../runtime/runtime.js';
import { Failure } from '../../schemas/errors.js';
import type { PromptSet } from '../../schemas/generated/config/project.js';
import { pageOf, placesOf, type Visited } from './pages.js';
import { checkProject, type Scope } from './scope.js';

/** A prompt as lists show it. */
export interface PromptCard {
  [member: string]: unknown;
  readonly name: string;
  readonly description: string;
  readonly arguments: { name: string; required: boolean; description?: string }[];
}

/** The messages of a prompt; the protocol knows no other roles. */
export interface PromptText {
  [member: string]: unknown;
  readonly description: string;
  readonly messages: { role: 'user' | 'assistant'; content: { type: 'text'; text: string } }[];
}

/** The prompt sets of projects as prompts, named `namespace/project/set`; the variables of their texts are the arguments. */
export class Prompts {
  readonly #runtime: Runtime;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** A page of all prompts. */
  async list(scope: Scope, cursor: string | undefined): Promise<{ prompts: PromptCard[]; nextCursor?: string }> {
    const { items: prompts, ...rest } = await pageOf((after) => placesOf(this.#runtime, scope, after, cardsOf), cursor);
    return { prompts, ...rest };
  }

  /** A prompt with its variables filled in. Throws `not_found`, and `bad_request` for a variable without a value. */
  async get(scope: Scope, name: string, given: Readonly<Record<string, unknown>>): Promise<PromptText> {
    const [namespace = '', project = '', set = '', ...more] = name.split('/');
    if (set === '' || more.length > 0)
      throw new Failure('not_found', `There is no prompt ${JSON.stringify(name.slice(0, 200))}; names are namespace/project/prompt.`, {
        code: 'NotFound',
      });
    checkProject(scope, namespace, project);
    await this.#runtime.projects.parsing(namespace, project);
    const loaded = this.#runtime.projects.load(namespace, project);
    const sets = loaded.config.prompts ?? [];
    const found = sets.find((one) => one.name === set);
    if (!found) {
      const known = sets.map((one) => one.name).join(', ') || 'none';
      throw new Failure(
        'not_found',
        `Project ${namespace}/${project} has no prompt ${JSON.stringify(set.slice(0, 200))}; it has: ${known}.`,
        { code: 'NotFound' },
      );
    }
    return {
      description: descriptionOf(loaded, found),
      messages: found.messages.map(({ role, content }) => ({
        role: role === 'assistant' ? 'assistant' : 'user',
        content: { type: 'text', text: resolveText(content, given) },
      })),
    };
  }
}

async function* cardsOf(project: LoadedProject): AsyncGenerator<Visited<PromptCard>, void, undefined> {
  const { namespace, name } = project;
  const sets = [...(project.config.prompts ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const set of sets) yield { place: [namespace, name, set.name], item: cardOf(project, set) };
}

function cardOf(project: LoadedProject, set: PromptSet): PromptCard {
  const needed = new Map<string, string | undefined>();
  for (const { content } of set.messages)
    for (const { name, defaultText } of variablesOf(content))
      if (defaultText === undefined || !needed.has(name)) needed.set(name, defaultText);
  return {
    name: `${project.namespace}/${project.name}/${set.name}`,
    description: descriptionOf(project, set),
    arguments: [...needed].map(([name, defaultText]) => ({
      name,
      required: defaultText === undefined,
      ...(defaultText === undefined ? {} : { description: `Default: ${defaultText}` }),
    })),
  };
}

function descriptionOf({ namespace, name }: LoadedProject, set: PromptSet): string {
  return `Prompt set ${set.name} of the project ${namespace}/${name}`;
}

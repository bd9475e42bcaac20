import { statSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { isName, quote } from '../names.js';
import { readProjectText } from '../project-file.js';
import { defaultTemplate } from './default.js';
import { ragTemplate } from './rag.js';
import { serverTemplate } from './server.js';

/** Templates that ship with the program: name -> YAML text. LlamaFarm's command line calls the one with retrieval `advanced`. */
const BUILT_IN = { default: defaultTemplate, server: serverTemplate, rag: ragTemplate, advanced: ragTemplate } satisfies Record<
  string,
  string
>;

const EXTENSIONS = ['.yaml', '.yml'];

/** The template used when a request names none: `QUERN_CONFIG_TEMPLATE`, `LF_CONFIG_TEMPLATE`, else `default`. */
export function defaultTemplateName(environment: NodeJS.ProcessEnv = process.env): string {
  return environment.QUERN_CONFIG_TEMPLATE || environment.LF_CONFIG_TEMPLATE || 'default';
}

/**
 * The YAML text of a template: a file in `directory` first, so that an operator can replace a built-in one, else the built-in one.
 * Throws `not_found` naming what was searched.
 */
export function templateText(name: string, directory: string): string {
  if (isName(name)) {
    for (const extension of EXTENSIONS) {
      const path = join(directory, name + extension);
      if (statSync(path, { throwIfNoEntry: false })?.isFile()) return readProjectText(path, directory, `Template ${name}`).text;
    }
    if (Object.hasOwn(BUILT_IN, name)) return BUILT_IN[name as keyof typeof BUILT_IN];
  }
  const searched = `${Object.keys(BUILT_IN).join(', ')} (built in), ${EXTENSIONS.map((extension) => join(directory, `<name>${extension}`)).join(', ')}`;
  throw new Failure('not_found', `Configuration template ${quote(name)} not found. Searched: ${searched}.`, {
    code: 'ConfigTemplateNotFound',
  });
}

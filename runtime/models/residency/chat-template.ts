import { open } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { expandHome, isInside, resolvesInside } from '../../base/files.js';
import { KNOWN_TEMPLATES } from '../../engines/language/templates/known-templates.js';
import { requireOwnPlace } from '../find/own-places.js';

/** Characters of a template, and bytes of a file with one. */
const TEMPLATE_LIMIT = 256 * 1024;
const FILE = /\.(?:jinja2?|j2)$/i;

function refused(setting: string, why: string, cause?: unknown): Failure {
  const shown = JSON.stringify(setting.slice(0, 100));
  const msg = `chat_template ${shown} ${why}`;
  return new Failure(
    'invalid',
    `${msg}. Give Jinja text, a file that ends in .jinja, or one of ${Object.keys(KNOWN_TEMPLATES).join(', ')}.`,
    {
      errors: [{ type: 'value_error', loc: ['body', 'extra_body', 'chat_template'], msg, input: setting.slice(0, 1000) }],
      cause,
    },
  );
}

/**
 * What a setting `chat_template` stands for: Jinja text, or the name of a known template. A name that ends in `.jinja`, `.jinja2` or `.j2` is a file, absolute,
 * in the home directory (`~/`), or below `folder`, which a relative one may not leave. Throws `invalid` for anything else.
 */
export async function chatTemplateOf(setting: string, folder: string): Promise<string> {
  if (/\{\{|\{%/.test(setting)) {
    if (setting.length > TEMPLATE_LIMIT) throw refused(setting, `has more than ${TEMPLATE_LIMIT} characters`);
    return setting;
  }
  if (Object.hasOwn(KNOWN_TEMPLATES, setting)) return setting;
  if (!FILE.test(setting)) throw refused(setting, 'is not known');
  const given = expandHome(setting);
  const path = resolve(folder, given);
  if (!isAbsolute(given) && !(isInside(folder, path) && (await resolvesInside(folder, path))))
    throw refused(setting, `leads out of ${folder}`);
  requireOwnPlace(path, [folder]);
  return fileText(setting, path);
}

async function fileText(setting: string, path: string): Promise<string> {
  try {
    const file = await open(path, 'r');
    try {
      const facts = await file.stat();
      if (!facts.isFile() || facts.size > TEMPLATE_LIMIT) throw refused(setting, `is no file of at most ${TEMPLATE_LIMIT} bytes`);
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw refused(setting, `cannot be read (${(cause as NodeJS.ErrnoException).code})`, cause);
  }
}

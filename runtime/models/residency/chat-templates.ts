import { mkdir, open, readFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, resolve } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { replaceText } from '../../base/durable-files.js';
import { expandHome, isInside, resolvesInside } from '../../base/files.js';
import { log } from '../../base/log.js';
import { KNOWN_TEMPLATES } from '../../engines/language/templates/known-templates.js';
import { requireOwnPlace } from '../find/places.js';

/** Models remembered; those loaded first go first. */
const REMEMBERED_LIMIT = 1000;

/**
 * Remembers which chat template each model had when it was last loaded: a template steers every conversation, and one that changed under
 * the same name may have been tampered with (threat T5). Kept as JSON, name to hash, in one file.
 */
export class TemplateMemory {
  readonly #path: string;
  readonly #pins: boolean;
  /** Calls run one after the other: each reads the file anew and replaces it. */
  #last: Promise<unknown> = Promise.resolve();

  /** `path` is the file; its folder is made on the first write. `pins`: a model keeps the template that it had first. */
  constructor(path: string, pins = false) {
    this.#path = path;
    this.#pins = pins;
  }

  /**
   * Notes the hash of a model's template; returns a warning where the model had another one before, or throws `conflict` (code `TemplateChanged`) where
   * templates are pinned. What the disk refuses is logged.
   */
  note(model: string, hash: string): Promise<string | null> {
    const noted = this.#last.then(() => this.#note(model, hash));
    this.#last = noted.catch(() => {});
    return noted.catch((error: unknown) => {
      if (error instanceof Failure) throw error;
      log('warn', `the template of ${model} could not be remembered`, { error });
      return null;
    });
  }

  async #note(model: string, hash: string): Promise<string | null> {
    const known = await this.#read();
    const before = known.get(model);
    if (before === hash) return null;
    const [was, is] = [before, hash].map((one) => one || 'none');
    if (before !== undefined && this.#pins) {
      const what = `The chat template of ${model} is not the one that it had first (hash ${was}, now ${is})`;
      throw new Failure(
        'conflict',
        `${what}, and templates are pinned. Check where the file comes from; to take it, remove the model's line from ${basename(this.#path)} in the data directory.`,
        {
          code: 'TemplateChanged',
        },
      );
    }
    known.delete(model);
    known.set(model, hash);
    if (this.#pins && known.size > REMEMBERED_LIMIT)
      throw new Failure(
        'unavailable',
        `The templates of ${REMEMBERED_LIMIT} models are pinned; remove some from ${basename(this.#path)} in the data directory.`,
        {
          code: 'TooManyTemplates',
        },
      );
    const kept = [...known].slice(-REMEMBERED_LIMIT);
    await mkdir(dirname(this.#path), { recursive: true });
    await replaceText(this.#path, JSON.stringify(Object.fromEntries(kept), null, 1));
    if (before === undefined) return null;
    return `The chat template is not the one that this model had before (hash ${was}, now ${is}); check where the file comes from.`;
  }

  /** A file that is missing remembers nothing, nor does a damaged one where nothing is pinned. */
  async #read(): Promise<Map<string, string>> {
    try {
      const content = JSON.parse(await readFile(this.#path, 'utf8')) as Record<string, string>;
      return new Map(Object.entries(content).filter(([, hash]) => typeof hash === 'string'));
    } catch (error) {
      if (!this.#pins || (error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
      const what = `Templates are pinned, and ${basename(this.#path)} in the data directory, which has them, cannot be read`;
      throw new Failure('unavailable', `${what}. Mend it, or remove it to pin anew.`, { code: 'TemplatesUnreadable', cause: error });
    }
  }
}

/** Characters of a template, and bytes of a file with one. */
const TEMPLATE_LIMIT = 256 * 1024;
const FILE = /\.(?:jinja2?|j2)$/i;

/**
 * What a setting `chat_template` stands for: Jinja text, or the name of a known template. A name that ends in `.jinja`, `.jinja2` or `.j2` is a file, absolute,
 * in the home directory (`~/`), or below `folder`, which a relative one may not leave. Throws `invalid` for anything else.
 */
export async function chatTemplateOf(setting: string, folder: string): Promise<string> {
  if (/\{\{|\{%/.test(setting)) {
    if (setting.length > TEMPLATE_LIMIT) throw templateRefusal(setting, `has more than ${TEMPLATE_LIMIT} characters`);
    return setting;
  }
  if (Object.hasOwn(KNOWN_TEMPLATES, setting)) return setting;
  if (!FILE.test(setting)) throw templateRefusal(setting, 'is not known');
  const given = expandHome(setting);
  const path = resolve(folder, given);
  if (!isAbsolute(given) && !(isInside(folder, path) && (await resolvesInside(folder, path))))
    throw templateRefusal(setting, `leads out of ${folder}`);
  requireOwnPlace(path, [folder]);
  return fileText(setting, path);
}

function templateRefusal(setting: string, why: string, cause?: unknown): Failure {
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

async function fileText(setting: string, path: string): Promise<string> {
  try {
    const file = await open(path, 'r');
    try {
      const facts = await file.stat();
      if (!facts.isFile() || facts.size > TEMPLATE_LIMIT) throw templateRefusal(setting, `is no file of at most ${TEMPLATE_LIMIT} bytes`);
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw templateRefusal(setting, `cannot be read (${(cause as NodeJS.ErrnoException).code})`, cause);
  }
}

import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { log } from '../../base/log.js';
import { writeFlushed } from '../../config/atomic-write.js';

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
    await this.#replace(JSON.stringify(Object.fromEntries(kept), null, 1));
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

  async #replace(text: string): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true });
    const temporary = `${this.#path}.${randomBytes(6).toString('hex')}.tmp`;
    try {
      await writeFlushed(temporary, text);
      await rename(temporary, this.#path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }
}

import { createHash } from 'node:crypto';
import { checkedName, checkedNewName, LATEST, type ListedModel, resolveLatest, VersionNames, versionOf } from '../ml/model-names.js';
import { RUNTIME_URL_SETTING, runtimeBase } from '../net/ask/bases.js';
import { postJson } from '../net/ask/json.js';
import type { Outbound } from '../net/outbound.js';

/** A fit may take long there, and load a model first. */
const TIMEOUT_MS = 600_000;

/** Which of several runtimes keeps what has this name: always the same one, for each keeps its own. */
export function homeOf(name: string, bases: readonly string[]): string {
  return bases[createHash('md5').update(name).digest().readUInt32BE(0) % bases.length]!;
}

/** Lists the models of one runtime. */
type ListAt = (base: string) => Promise<readonly ListedModel[]>;

/**
 * Where the fitted models of one kind are at universal runtimes elsewhere. All versions of a name are at one of them, since each keeps its own files.
 * Versions are made and found here, so that it works with runtimes that leave that to the core, too.
 */
export class ModelHomes {
  readonly bases: readonly string[];
  readonly #outbound: Outbound;
  readonly #area: string;
  readonly #what: string;
  readonly #versions = new VersionNames();

  /** `area` is the part of the address behind `/v1/`, `what` the kind of models in messages. */
  constructor(outbound: Outbound, urls: readonly string[], area: string, what: string) {
    this.#outbound = outbound;
    this.bases = urls.map(runtimeBase);
    this.#area = area;
    this.#what = what;
  }

  /** The home of all versions of a model, by the name of any of them or the one that stands for the newest. */
  of(name: string): string {
    return homeOf(versionOf(name.endsWith(LATEST) ? name.slice(0, -LATEST.length) : name).base, this.bases);
  }

  /** Fits under the name of the model, or under a new version of it. Throws `bad_request` for what is no name. */
  fit<Fitted>(
    { model, overwrite }: { readonly model: string; readonly overwrite: boolean },
    listAt: ListAt,
    fit: (base: string, name: string) => Promise<Fitted>,
  ): Promise<Fitted> {
    const base = this.of(checkedNewName(model));
    if (overwrite) return fit(base, model);
    return this.#versions.with(
      model,
      () => listAt(base),
      (name) => fit(base, name),
    );
  }

  /** Where a model is, and its name there: `-latest` is found out here. */
  async find(model: string, listAt: ListAt): Promise<{ base: string; model: string }> {
    const base = this.of(checkedName(model));
    return { base, model: model.endsWith(LATEST) ? resolveLatest(model, await listAt(base)) : model };
  }

  /** Asks one of them: `path` below the area. */
  send(base: string, path: string, body: unknown, signal: AbortSignal, method?: 'GET' | 'DELETE'): Promise<unknown> {
    const call = { base, path: `/v1/${this.#area}/${path}`, body, model: this.#what, ours: true, timeoutMs: TIMEOUT_MS, retries: 0 };
    return postJson(this.#outbound, { ...call, setting: RUNTIME_URL_SETTING, ...(method ? { method } : {}) }, signal);
  }
}

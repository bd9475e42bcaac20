import type { ProjectConfig } from '../../schemas/generated/config/project.js';
import type { ModelItem, ModelList } from '../../schemas/generated/core/projects.js';
import { defaultModel } from '../config/default-model.js';
import { isObject, type JsonObject } from '../config/values.js';
import { isEnvReference } from '../config/variables.js';

const HIDDEN = '***';
const SECRET_KEY = /(?:^|[_-])(?:api[_-]?key|apikey|authorization|secret|password|token|credentials?)$/i;
const ABSENT = { description: null, base_url: null, api_key: null, instructor_mode: null, prompt_format: null };

/** The configured models with all their fields and their default marked. Secrets come as `***`; a reference to an environment variable holds none and is shown. */
export function listModels(config: ProjectConfig): ModelList {
  const chosen = defaultModel(config.runtime);
  const models = config.runtime.models.map(
    (model) => ({ ...ABSENT, ...(withoutSecrets(model) as JsonObject), default: model === chosen }) as unknown as ModelItem,
  );
  return { total: models.length, models };
}

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    if (typeof member !== 'string') out[key] = withoutSecrets(member);
    else if (SECRET_KEY.test(key)) out[key] = isEnvReference(member) ? member : HIDDEN;
    else out[key] = key === 'base_url' ? withoutUserInfo(member) : member;
  }
  return out;
}

/** Hides the `user:password@` of an address. */
function withoutUserInfo(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#@]*@/i, `$1${HIDDEN}@`);
}

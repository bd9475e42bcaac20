import { Failure } from '../../schemas/errors.js';
import type { ModelConfig } from '../../schemas/generated/config/project.js';
import { isSecretName, rememberAddressSecrets, rememberSecret } from '../../schemas/secrets.js';
import { isObject, type JsonObject } from '../base/json.js';

/** Holds ordinary texts too, such as media types, that messages must be able to say; those with the name of a secret are remembered all the same. */
const HEADERS = /headers?$/i;
const REFERENCE = /\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Whose `<NAME>_API_KEY` a project file may refer to unasked: hosts of models and of vectors that it can name. */
const KEY_OWNERS: readonly string[] =
  `AI21 ANTHROPIC ANYSCALE AZURE AZURE_OPENAI BASETEN CEREBRAS CHROMA COHERE DASHSCOPE DEEPINFRA DEEPSEEK ELASTIC ELASTICSEARCH FIREWORKS GEMINI
  GOOGLE GROQ HUGGINGFACE HYPERBOLIC JINA LAMBDA LEMONADE MINIMAX MISTRAL MOONSHOT NEBIUS NOVITA NVIDIA OLLAMA OPENAI OPENROUTER OPENSEARCH
  PERPLEXITY PINECONE QDRANT QWEN REPLICATE SAMBANOVA TOGETHER TOGETHERAI VLLM VOYAGE WATSONX WEAVIATE XAI ZAI ZHIPU`.split(/\s+/);
const KNOWN_KEYS = new Set(KEY_OWNERS.map((owner) => `${owner}_API_KEY`));

/** Opens this daemon itself. */
const OWN_KEY = 'QUERN_API_KEY';
/** Names that the operator allows besides; see `allowEnv`. */
let allowed: ReadonlySet<string> = new Set();
/** Whether those are all; see `allowEnv`. */
let isStrict = false;

/** Allows project files to refer to further environment variables: those of `--allow-env`. Takes the place of what was allowed so before. `strict`: no others may be read, where project files are written by people who do not run the machine (threat T43). */
export function allowEnv(names: readonly string[], strict = false): void {
  allowed = new Set(names);
  isStrict = strict;
}

function mayRead(name: string): boolean {
  if (allowed.has(name)) return true;
  return !isStrict && ((name.startsWith('QUERN_') && name !== OWN_KEY) || KNOWN_KEYS.has(name));
}

/**
 * Copies a value with every `${env:NAME}` in its strings, at any depth, replaced by that environment variable. One pass: what a variable
 * holds is not looked through again. Only names that a project file may refer to are read: `QUERN_*` but the daemon's own key, the API keys of
 * known hosts, and what `allowEnv` was given; whoever may write a project file could else have the whole environment sent to a host of theirs.
 * Throws `bad_request` naming a variable that is not set or may not be read. The result must not be stored or sent back.
 */
export function expandEnv<T>(value: T, environment: NodeJS.ProcessEnv = process.env): T {
  return expand(value, environment, false) as T;
}

/** `isSecret`: whether the value stands for a secret or lies below one. What is expanded is about to be used. */
function expand(value: unknown, environment: NodeJS.ProcessEnv, isSecret: boolean): unknown {
  if (typeof value === 'string') {
    const text = value.includes('${env:') ? expandText(value, environment) : value;
    if (isSecret) rememberSecret(text);
    else rememberAddressSecrets(text);
    return text;
  }
  if (Array.isArray(value)) return value.map((item) => expand(item, environment, isSecret));
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const [key, member] of Object.entries(value))
    out[key] = expand(member, environment, isSecret || (isSecretName(key) && !HEADERS.test(key)));
  return out;
}

function expandText(text: string, environment: NodeJS.ProcessEnv): string {
  return text.replace(REFERENCE, (_whole, name: string) => {
    if (!mayRead(name)) {
      const otherName = name === OWN_KEY ? 'another name' : `the name QUERN_${name}`;
      throw new Failure(
        'bad_request',
        `The project file refers to the environment variable ${name} as \${env:${name}}, which it may not read: without asking it may read QUERN_* (not ${OWN_KEY}) and the API keys of known hosts, such as OPENAI_API_KEY. Start the daemon with --allow-env ${name} (or QUERN_ALLOW_ENV=${name}), or give the variable ${otherName}.`,
        { code: 'EnvironmentVariableRefused' },
      );
    }
    const found = environment[name];
    if (found === undefined) {
      throw new Failure(
        'bad_request',
        `The environment variable ${name}, which the project file refers to as \${env:${name}}, is not set. Set it for the daemon and start it again.`,
        { code: 'EnvironmentVariableMissing' },
      );
    }
    if (isSecretName(name)) rememberSecret(found);
    return found;
  });
}

/**
 * The key of a model with `${env:NAME}` expanded, or `undefined` where there is none. Throws `bad_request` when it cannot stand in a
 * header; the message does not show it.
 */
export function apiKeyOf(model: ModelConfig): string | undefined {
  const key = expandEnv({ api_key: model.api_key ?? '' }).api_key.trim();
  if (key === '') return undefined;
  if (/[^\x21-\x7e]/.test(key))
    throw new Failure(
      'bad_request',
      `Model '${model.name}': api_key holds a blank or a character outside ASCII. Check the variable it comes from.`,
      {
        code: 'ProviderKeyRefused',
      },
    );
  return key;
}

/** The base URL of a model with `${env:NAME}` expanded, or `undefined` where there is none. */
export function baseUrlOf(model: ModelConfig): string | undefined {
  const base = expandEnv(model.base_url ?? '').trim();
  return base === '' ? undefined : base;
}

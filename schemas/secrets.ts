/**
 * What counts as a secret in a configuration, a request or a text: the one list that masks, error messages, log lines and their tests follow.
 * Configurations may hold members that no schema knows, so the list goes by names.
 */

/** What a reader sees in place of a secret. */
export const HIDDEN = '***';

/** Names of secrets, in words joined by `_`, that are clear enough to be looked for in running text too. */
const CLEAR_NAMES =
  'api_?keys?|(?:access|account|admin|auth|bearer|client|encryption|license|master|private|secret|service|session|shared|signing|subscription)_?(?:keys?|tokens?)' +
  '|token|secrets?|passwords?|passwd|passphrase|pwd|authorization|credentials?|connection_?string';
/** Names that may mean something else in running text. */
const NAMES = `${CLEAR_NAMES}|pass|key|jwt|auth|bearer|cookies?|headers?|dsn`;
/** Tokens of a vocabulary, which share their ending with those that open doors. */
const VOCABULARY_TOKEN = /(?:^|_)(?:bos|cls|end|eos|mask|pad|sep|start|stop|unk)_token$/;
const SECRET_NAME = new RegExp(`(?:^|_)(?:${NAMES})(?:_?\\d+)?$`);
/** Spares the words of a name that cannot be one. */
const HINT = /key|token|secret|pass|pwd|jwt|auth|bearer|cred|cookie|header|dsn|string/i;
/** Members whose values are all secret where they are objects or lists, whatever these call them. */
const SECRET_FOLDER = /^(?:env|environ|environment|environment_variables)$/i;
/** Query parameters that carry a key under a name that means something else elsewhere. */
const SECRET_PARAMETER = /^(?:code|sig|signature)$/i;
/** The longest name that is looked at whole; of a longer one its end counts. */
const MAX_NAME_CHARACTERS = 128;

/** Names that were looked at, which recur; the memory is dropped when full. */
const judged = new Map<string, boolean>();
const MAX_JUDGED = 4096;

const REFERENCE = /\$\{env:[A-Za-z_][A-Za-z0-9_]*\}/g;
/** What may stand beside references in a text that is shown: the scheme of an `Authorization` header. */
const SCHEME_WORD = /^(?:(?:bearer|basic|token|api-?key)\s+)?$/i;

/** Whether a member of this name holds a secret: a text or a number, or an object or list of them. */
export function isSecretName(name: string): boolean {
  if (!HINT.test(name)) return false;
  const known = judged.get(name);
  if (known !== undefined) return known;
  const words = name
    .slice(-MAX_NAME_CHARACTERS)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .toLowerCase();
  const isSecret = SECRET_NAME.test(words) && !VOCABULARY_TOKEN.test(words);
  if (judged.size >= MAX_JUDGED) judged.clear();
  if (name.length <= MAX_NAME_CHARACTERS) judged.set(name, isSecret);
  return isSecret;
}

/** Whether an object or list under this name holds nothing but secrets. */
export function isSecretFolder(name: string): boolean {
  return SECRET_FOLDER.test(name) || isSecretName(name);
}

/** Whether a text that stands for a secret holds none, because all of it comes from environment variables (`${env:NAME}`). */
export function isOnlyReferences(text: string): boolean {
  return text.includes('${env:') && SCHEME_WORD.test(text.replace(REFERENCE, ''));
}

/** An address in a text, up to what cannot be part of one; the scheme is bounded so that long texts cost no more than their length. */
const ADDRESS = /[a-z][a-z0-9+.-]{0,30}:\/\/[^\s"'<>`]+/gi;
const PARAMETER = /([?&;#])([^=&;#?]{1,128})=([^&;#]*)/g;
/** `user:password@host` without a scheme. */
const USER_AT_HOST = /^([^\s/@:]+:[^\s/@]+)@(?=[^\s/@]+)/;

/** A text without the passwords and keys of the addresses in it: `https://***@host/?key=***`. */
export function withoutAddressSecrets(text: string, hidden: string = HIDDEN): string {
  if (!text.includes('://')) return text;
  return text.replace(ADDRESS, (address) => maskedAddress(address, hidden));
}

/** A host or address, with or without a scheme, without its password and keys. */
export function withoutHostSecrets(text: string): string {
  if (text.includes('://')) return withoutAddressSecrets(text);
  return text.replace(USER_AT_HOST, (whole, user: string) => (isOpenUser(user) ? whole : `${HIDDEN}@`));
}

function maskedAddress(address: string, hidden: string): string {
  const start = address.indexOf('://') + 3;
  const end = userEnd(address, start);
  const user = address.slice(start, end);
  const shown = end < 0 || isOpenUser(user) ? address : `${address.slice(0, start)}${hidden}${address.slice(end)}`;
  return shown.replace(PARAMETER, (whole, mark: string, name: string, value: string) => {
    if (value === '' || isOnlyReferences(value) || !isSecretParameter(name)) return whole;
    return `${mark}${name}=${hidden}`;
  });
}

function isSecretParameter(name: string): boolean {
  return isSecretName(name) || SECRET_PARAMETER.test(name);
}

/** Where the `@` behind user and password stands, -1 where there is none. A password may hold a `/`, `?` or `#` that should have been escaped. */
function userEnd(address: string, start: number): number {
  const path = address.slice(start).search(/[/?#]/);
  const authority = path < 0 ? address.length : start + path;
  const inside = address.lastIndexOf('@', authority - 1);
  if (inside >= start) return inside;
  const looksLikeUser = /:(?!\d{1,5}$)/.test(address.slice(start, authority).replace(/^\[[^\]]*\]/, ''));
  return looksLikeUser ? address.lastIndexOf('@') : -1;
}

/** Whether the part before `@` holds no password of its own. */
function isOpenUser(user: string): boolean {
  return user.includes('${env:') && /^(?:[^:]*:)?$/.test(user.replace(REFERENCE, ''));
}

/** A key after `Bearer`, after its name and `:` or `=`, or after its flag on a command line. A scheme word is not the secret; what follows it is. */
const IN_TEXT = new RegExp(
  `(bearer\\s{1,8})[^\\s"',}]+|((?:${CLEAR_NAMES.replaceAll('_?', '[_-]?')})(?:["']?\\s{0,8}[:=]\\s{0,8}["']?(?:(?:bearer|basic)\\s{1,8})?))[^\\s"',}]+` +
    `|((?<![\\w-])--?[\\w-]{0,64}(?:${NAMES.replaceAll('_?', '[_-]?')})(?:=|[ \\t]{1,8}(?!-))["']?)[^\\s"']+`,
  'gi',
);

/** Secrets in use that are remembered; those used least recently are forgotten first. */
const MAX_IN_USE = 256;
/** A shorter one may be part of any word. */
const MIN_IN_USE_CHARACTERS = 8;
const inUse = new Set<string>();

/** Remembers a secret that is about to be used, such as the key of a host, so that nothing that leaves this process repeats it. */
export function rememberSecret(value: string): void {
  if (value.length < MIN_IN_USE_CHARACTERS) return;
  inUse.delete(value);
  inUse.add(value);
  if (inUse.size > MAX_IN_USE) inUse.delete(inUse.values().next().value!);
}

/** Remembers the password and the keys of the addresses in a text that is about to be used. */
export function rememberAddressSecrets(text: string): void {
  if (!text.includes('://')) return;
  for (const [address] of text.matchAll(ADDRESS)) {
    const start = address.indexOf('://') + 3;
    const end = userEnd(address, start);
    if (end >= 0) rememberSecret(address.slice(start, end).replace(/^[^:]*:/, ''));
    for (const [, , name = '', value = ''] of address.matchAll(PARAMETER)) if (isSecretParameter(name)) rememberSecret(value);
  }
}

/** A text without the secrets that are in use, wherever it has them from: a host may repeat the key that it was sent. */
export function withoutSecretsInUse(text: string, hidden: string = HIDDEN): string {
  let shown = text;
  for (const secret of inUse) if (shown.includes(secret)) shown = shown.replaceAll(secret, () => hidden);
  return shown;
}

/** A running text, such as a log line or a command, without the values of keys, tokens and passwords and without those in addresses. */
export function withoutTextSecrets(text: string, hidden: string = HIDDEN): string {
  const named = withoutSecretsInUse(text, hidden).replace(IN_TEXT, (whole, bearer?: string, name?: string, flag?: string) => {
    const before = bearer ?? name ?? flag ?? '';
    return isOnlyReferences(whole.slice(before.length)) ? whole : `${before}${hidden}`;
  });
  return withoutAddressSecrets(named, hidden);
}

/** Longest text of a setting that a message shows. */
const MAX_SETTING_CHARACTERS = 100;

/** The value of a setting as a message shows it: JSON text, cut where it is long, without secrets; a setting may be a secret as a whole. */
export function renderSetting(name: string, value: unknown): string {
  if (isSecretFolder(name)) return HIDDEN;
  return withoutTextSecrets(JSON.stringify(value) ?? String(value)).slice(0, MAX_SETTING_CHARACTERS);
}

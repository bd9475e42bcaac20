/** Names under which services that redirect carry the address they lead to. */
const TARGETS = ['url', 'u', 'q', 'target', 'dest', 'destination', 'redirect', 'redirect_url', 'redirect_uri', 'to'];
/** Redirects inside redirects. */
const DEPTH = 3;

function parsed(address: string): URL | undefined {
  const absolute = /^www\./i.test(address) ? `https://${address}` : address;
  return URL.canParse(absolute) ? new URL(absolute) : undefined;
}

/** Where an address leads that carries its target as a parameter, as tracking links do; the address itself for any other. */
export function targetOf(address: string): string {
  let current = address;
  for (let depth = 0; depth < DEPTH; depth += 1) {
    const parameters = parsed(current)?.searchParams;
    const next = TARGETS.map((name) => parameters?.get(name)).find((value) => value && /^https?:\/\//i.test(value) && parsed(value));
    if (!next) break;
    current = next;
  }
  return current;
}

/** Whether a host on the public internet can have the address: a name with a top-level domain, or a literal IP address. */
export function isSound(address: string): boolean {
  const url = parsed(address);
  if (!url) return false;
  const labels = url.hostname.replace(/\.$/, '').split('.');
  const numeric = /^\[|^\d{1,3}(?:\.\d{1,3}){3}$/.test(url.hostname);
  const named = labels.length > 1 && labels.every((label) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(label));
  return numeric || (named && /^(?:[a-z]{2,}|xn--[a-z0-9-]+)$/.test(labels.at(-1)!));
}

import type { OptionShapes } from '../../config/plugin-options.js';
import { emailsIn, urlsIn } from '../text/addresses.js';
import { defineExtractor } from './contract.js';

/** Names under which services that redirect carry the address they lead to. */
const TARGETS = ['url', 'u', 'q', 'target', 'dest', 'destination', 'redirect', 'redirect_url', 'redirect_uri', 'to'];
/** Redirects inside redirects. */
const DEPTH = 3;

function parsed(address: string): URL | undefined {
  const absolute = /^www\./i.test(address) ? `https://${address}` : address;
  return URL.canParse(absolute) ? new URL(absolute) : undefined;
}

/** Where an address leads that carries its target as a parameter, as tracking links do; the address itself for any other. */
function targetOf(address: string): string {
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
function isSound(address: string): boolean {
  const url = parsed(address);
  if (!url) return false;
  const labels = url.hostname.replace(/\.$/, '').split('.');
  const numeric = /^\[|^\d{1,3}(?:\.\d{1,3}){3}$/.test(url.hostname);
  const named = labels.length > 1 && labels.every((label) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(label));
  return numeric || (named && /^(?:[a-z]{2,}|xn--[a-z0-9-]+)$/.test(labels.at(-1)!));
}

const OPTIONS = {
  extract_urls: { type: 'boolean', default: true, description: 'Web addresses.' },
  extract_emails: { type: 'boolean', default: true, description: 'Mail addresses.' },
  extract_domains: { type: 'boolean', default: true, description: 'Host names of the web and mail addresses.' },
  validate_urls: { type: 'boolean', default: false, description: 'Leaves out addresses no host can have; nothing is fetched.' },
  resolve_redirects: {
    type: 'boolean',
    default: false,
    description: 'Follows redirects that the address itself spells out; nothing is fetched.',
  },
} as const satisfies OptionShapes;

/** Different links of a kind in one text; the rest is left out. */
const LINKS = 1000;

/** The first so many different values. */
function distinct(values: Iterable<string>): string[] {
  const found = new Set<string>();
  for (const value of values) {
    if (found.size === LINKS) break;
    found.add(value);
  }
  return [...found];
}

function* domainsOf(urls: readonly string[], emails: readonly string[]): Generator<string> {
  for (const url of urls) {
    const host = /^(?:\w+:\/\/)?(?:[^/?#@]{0,255}@)?([^/?#:]+)/.exec(url)?.[1];
    if (host) yield host.toLowerCase();
  }
  for (const email of emails) yield email.slice(email.lastIndexOf('@') + 1).toLowerCase();
}

/** Web and mail addresses and their hosts, each once, in the order of the text. `links` beside the chunk holds the web addresses. */
export const link = defineExtractor('LinkExtractor', OPTIONS, (text, options) => {
  const spelled = [...urlsIn(text)].map((span) => (options.resolve_redirects ? targetOf(span.text) : span.text));
  const urls = distinct(options.validate_urls ? spelled.filter(isSound) : spelled);
  const emails = distinct([...emailsIn(text)].map((span) => span.text));
  const shown = { urls: options.extract_urls ? urls : [], emails: options.extract_emails ? emails : [] };
  const domains = options.extract_domains ? distinct(domainsOf(urls, emails)) : [];
  return {
    output: {
      links: {
        ...(options.extract_urls && { urls: shown.urls }),
        ...(options.extract_emails && { emails: shown.emails }),
        ...(options.extract_domains && { domains }),
        link_count: shown.urls.length + shown.emails.length,
      },
    },
    flat: { links: shown.urls },
  };
});

/** Where the reader is, kept in the part of the address behind `#`, so that links, reloads and the Back button work: `#/view/parts...?name=value`. */
interface Place {
  /** Name of the view, such as `chat`; empty for the first one. */
  readonly view: string;
  /** The parts of the address behind the view, decoded. */
  readonly parts: readonly string[];
  readonly query: URLSearchParams;
}

/** Reads the part of an address behind `#`. */
export function placeOf(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [view = '', ...parts] = path
    .split('/')
    .filter((part) => part !== '')
    .map(decoded);
  return { view, parts, query: new URLSearchParams(query) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The address of a place, for links: `href('chat', id)`. */
export function href(view: string, ...parts: string[]): string {
  return `#/${[view, ...parts].map(encodeURIComponent).join('/')}`;
}

class Route {
  #hash = $state(location.hash);
  readonly place = $derived(placeOf(this.#hash));

  get hash(): string {
    return this.#hash;
  }

  constructor() {
    addEventListener('hashchange', () => {
      this.#hash = location.hash;
    });
  }

  /** Goes to a place; with `replace` the Back button does not lead back to this one. */
  go(to: string, { replace = false } = {}): void {
    if (replace) history.replaceState(null, '', to);
    else history.pushState(null, '', to);
    this.#hash = location.hash;
  }
}

export const route = new Route();

import type { Endpoint, ErrorShape } from '../../schemas/endpoint.js';

/** Longest path that is looked at, in characters. */
const PATH_LIMIT = 200;

/** In what shape failures are told where no endpoint lies: that of the endpoints beside it, where they have one in common. */
export class Dialects {
  /** By the beginning of a path, to the end of one of its elements. Undefined where endpoints differ. */
  readonly #shapes = new Map<string, ErrorShape | undefined>();

  constructor(endpoints: readonly Pick<Endpoint<never>, 'path' | 'errorShape'>[]) {
    for (const { path, errorShape = 'house' } of endpoints) {
      for (const start of starts(path))
        this.#shapes.set(start, !this.#shapes.has(start) || this.#shapes.get(start) === errorShape ? errorShape : undefined);
    }
  }

  /** The shape at a path, undefined where nothing speaks for one. */
  shapeAt(path: string): ErrorShape | undefined {
    const known = starts(path.slice(0, PATH_LIMIT)).findLast((start) => this.#shapes.has(start));
    return known === undefined ? undefined : this.#shapes.get(known);
  }
}

/** `/a`, `/a/b` and so on, up to the first parameter. */
function starts(path: string): string[] {
  const elements = path
    .split('/')
    .slice(1)
    .filter((element) => element !== '');
  const end = elements.findIndex((element) => element.startsWith('{'));
  const fixed = end < 0 ? elements : elements.slice(0, end);
  return fixed.map((_element, index) => `/${fixed.slice(0, index + 1).join('/')}`);
}

import { Failure } from '../../schemas/errors.js';

/** How well an `Accept` header likes a media type, 0 (not at all) to 1. The most specific entry counts. */
export function liked(accept: string, type: string): number {
  let best = { rank: -1, quality: 0 };
  for (const entry of accept.toLowerCase().split(',')) {
    const [range = '', ...parameters] = entry.split(';').map((part) => part.trim());
    const rank = range === type ? 2 : range === `${type.split('/')[0]}/*` ? 1 : range === '*/*' ? 0 : -1;
    if (rank <= best.rank) continue;
    const given = parameters.find((parameter) => parameter.startsWith('q='));
    const value = given === undefined ? 1 : Number(given.slice(2));
    best = { rank, quality: value >= 0 && value <= 1 ? value : 0 };
  }
  return best.quality;
}

/** The type that an `Accept` header likes best, the first of equals and without a header. Throws `not_acceptable` naming `types` where it likes none. */
export function negotiated<Type extends string>(accept: string | undefined, types: readonly [Type, ...Type[]]): Type {
  if (accept === undefined || accept.trim() === '') return types[0];
  let [best, most]: [Type | undefined, number] = [undefined, 0];
  for (const type of types) {
    const how = liked(accept, type);
    if (how > most) [best, most] = [type, how];
  }
  if (best !== undefined) return best;
  throw new Failure('not_acceptable', `Accept is ${JSON.stringify(accept.slice(0, 200))}; this answer comes as ${types.join(', ')}.`);
}

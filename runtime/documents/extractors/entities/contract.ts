/** Kinds of entity, as the configuration names them. */
export const ENTITY_TYPES = [
  'PERSON', 'ORG', 'GPE', 'LOC', 'FAC', 'DATE', 'TIME', 'MONEY', 'PERCENT', 'PRODUCT', 'EVENT', 'LAW', 'EMAIL', 'PHONE', 'URL', 'VERSION',
] as const; // biome-ignore format: a table

/** Kind of an entity. */
export type EntityType = (typeof ENTITY_TYPES)[number];

/** How an entity was recognised: by its own form, by words in or around it, or by its capitals alone. */
export type Method = 'regex' | 'pattern' | 'capitalization';

/** How sure each method is. */
export const CONFIDENCE: Readonly<Record<Method, number>> = { regex: 0.8, pattern: 0.7, capitalization: 0.6 };

/** Something with a name, or a figure with a meaning. Offsets are UTF-16 code units. */
export interface Entity {
  readonly type: EntityType;
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly method: Method;
}

import { Failure } from '../../../schemas/errors.js';
import type { OptionShapes } from '../../config/plugin-options.js';
import { defineExtractor } from './contract.js';
import { CONFIDENCE, ENTITY_TYPES, type Entity, type EntityType, figuresIn } from './entities/figures.js';
import { namesIn } from './entities/names.js';

const OPTIONS = {
  model: { type: 'string', default: 'en_core_web_sm', description: 'Its language, the part before the first underscore, picks the rules.' },
  entity_types: {
    type: 'array',
    default: [],
    items: { type: 'string', enum: ENTITY_TYPES },
    maxItems: 16,
    description: 'Kinds to find; none = all.',
    examples: [['PERSON', 'ORG']],
  },
  use_fallback: { type: 'boolean', default: true, description: 'Rules stand in for the model, which is not part of the product.' },
  min_entity_length: { type: 'integer', default: 2, minimum: 1, maximum: 1000, description: 'Least code units of an entity.' },
  merge_entities: { type: 'boolean', default: true, description: 'Entities of a kind that overlap or touch are one.' },
  confidence_threshold: {
    type: 'number',
    default: 0.7,
    minimum: 0,
    maximum: 1,
    description: 'Least confidence: 0.8 by form, 0.7 by words, 0.6 by capitals.',
  },
} as const satisfies OptionShapes;

/** Entities of a kind in one text; the rest is left out. */
const ENTITIES = 1000;

/** Joins entities of one kind, in the order of the text, with nothing but a space between; the surer method names the result. */
function mergeEntities(text: string, entities: readonly Entity[]): Entity[] {
  const result: Entity[] = [];
  for (const one of entities) {
    const last = result.at(-1);
    if (!last || one.start > last.end + 1 || text.slice(last.end, one.start).trim() !== '') {
      result.push(one);
      continue;
    }
    const end = Math.max(last.end, one.end);
    const method = CONFIDENCE[last.method] >= CONFIDENCE[one.method] ? last.method : one.method;
    result[result.length - 1] = { ...last, text: text.slice(last.start, end), end, method };
  }
  return result;
}

function groupEntities(text: string, entities: Iterable<Entity>, merge: boolean): Map<EntityType, Entity[]> {
  const groups = new Map<EntityType, Entity[]>();
  for (const one of entities) {
    const group = groups.get(one.type) ?? [];
    group.push(one);
    groups.set(one.type, group);
  }
  for (const [type, found] of groups) {
    const sorted = found.sort((a, b) => a.start - b.start || b.end - a.end);
    groups.set(type, (merge ? mergeEntities(text, sorted) : sorted).slice(0, ENTITIES));
  }
  return groups;
}

/**
 * People, places, organisations, figures and addresses, by rules. Throws `Failure('unavailable')` where rules may not stand in for the
 * model. Names need an English model name: their rules are English.
 */
export const entity = defineExtractor('EntityExtractor', OPTIONS, (text, options) => {
  if (!options.use_fallback) {
    throw new Failure(
      'unavailable',
      `The entity model '${options.model}' is not available; set use_fallback to true to let rules stand in.`,
    );
  }
  const english = /^en(?:[_-]|$)/i.test(options.model);
  const wanted = (one: Entity): boolean =>
    one.text.length >= options.min_entity_length &&
    CONFIDENCE[one.method] >= options.confidence_threshold &&
    (options.entity_types.length === 0 || options.entity_types.includes(one.type));
  const all = [...figuresIn(text, english, ENTITIES), ...(english ? namesIn(text) : [])].filter(wanted);
  const groups = groupEntities(text, all, options.merge_entities);
  const kinds = ENTITY_TYPES.filter((type) => groups.has(type)).map((type) => [type, groups.get(type)!] as const);
  return {
    output: {
      entities: Object.fromEntries(
        kinds.map(([type, found]) => [
          type,
          found.map(({ text: name, start, end, method }) => ({ text: name, start, end, confidence: CONFIDENCE[method], method })),
        ]),
      ),
    },
    flat: Object.fromEntries(kinds.map(([type, found]) => [`entities_${type.toLowerCase()}`, [...new Set(found.map((one) => one.text))]])),
  };
});

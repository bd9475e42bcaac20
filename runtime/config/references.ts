import { isObject, type JsonObject } from '../base/json.js';
import type { Path, Problem } from './problems.js';

/** The kinds of component, each with the list it is defined in and the fields of a database that hold it. */
const KINDS = {
  embedding_strategy: { plural: 'embedding_strategies', fallback: 'default_embedding_strategy' },
  retrieval_strategy: { plural: 'retrieval_strategies', fallback: 'default_retrieval_strategy' },
  parser: { plural: 'parsers', fallback: '' },
} as const;
type Kind = keyof typeof KINDS;

/** Named components of one kind, and which of them is the default. */
interface Catalog {
  readonly byName: Map<string, JsonObject>;
  readonly fallback: string | undefined;
}

/**
 * Replaces component references in `config` (changed in place) by deep copies of what they name, and returns what could not be resolved.
 * An inline list wins over a reference; what names nothing takes the component default.
 */
export function resolveReferences(config: JsonObject): Problem[] {
  const problems: Problem[] = [];
  const rag = isObject(config.rag) ? config.rag : undefined;
  const sources: { components: unknown; path: Path }[] = [
    { components: config.components, path: ['components'] },
    { components: rag?.components, path: ['rag', 'components'] },
  ];
  const catalogs = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, catalogOf(kind as Kind, sources, problems)])) as Record<
    Kind,
    Catalog
  >;
  eachObject(rag?.databases, (database, index) => {
    for (const kind of ['embedding_strategy', 'retrieval_strategy'] as const) {
      resolveDatabase(database, kind, catalogs[kind], ['rag', 'databases', index], problems);
    }
  });
  eachObject(rag?.data_processing_strategies, (strategy, index) => {
    resolveParsers(strategy, catalogs.parser, ['rag', 'data_processing_strategies', index], problems);
  });
  return problems;
}

/** Collects the components of one kind; those under `rag.components` come last and so win by name. */
function catalogOf(kind: Kind, sources: { components: unknown; path: Path }[], problems: Problem[]): Catalog {
  const { plural } = KINDS[kind];
  const byName = new Map<string, JsonObject>();
  let fallback: string | undefined;
  for (const { components, path } of sources) {
    if (!isObject(components)) continue;
    const seen = new Set<string>();
    eachObject(components[plural], (component, index) => {
      const { name } = component;
      if (typeof name !== 'string') return; // the schema reports it
      if (seen.has(name)) {
        problems.push({
          path: [...path, plural, index, 'name'],
          reason: `duplicate ${kind} name '${name}'`,
          type: 'duplicate',
          input: name,
        });
      }
      seen.add(name);
      byName.set(name, component);
    });
    const chosen = isObject(components.defaults) ? components.defaults[kind] : undefined;
    if (typeof chosen === 'string') fallback = chosen;
  }
  return { byName, fallback };
}

function resolveDatabase(
  database: JsonObject,
  kind: 'embedding_strategy' | 'retrieval_strategy',
  catalog: Catalog,
  path: Path,
  problems: Problem[],
): void {
  const { plural, fallback } = KINDS[kind];
  const reference = database[kind];
  const inline = database[plural];
  delete database[kind];
  if (inline !== undefined && !(Array.isArray(inline) && inline.length === 0)) {
    const isAmong = Array.isArray(inline) && inline.some((strategy) => isObject(strategy) && strategy.name === catalog.fallback);
    if (database[fallback] === undefined && catalog.fallback !== undefined && isAmong) database[fallback] = catalog.fallback;
    return;
  }
  if (reference !== undefined && typeof reference !== 'string') {
    problems.push({ path: [...path, kind], reason: `must be the name of an entry of components.${plural}`, type: 'string_type' });
    return;
  }
  const chosen = reference ?? catalog.fallback;
  if (chosen === undefined) return;
  const component = find(chosen, kind, catalog, [...path, kind], problems);
  if (!component) return;
  database[plural] = [component];
  database[fallback] = chosen;
}

function resolveParsers(strategy: JsonObject, catalog: Catalog, path: Path, problems: Problem[]): void {
  const listed = typeof strategy.parsers === 'string' ? [strategy.parsers] : strategy.parsers;
  const isEmpty = listed === undefined || (Array.isArray(listed) && listed.length === 0);
  const parsers = isEmpty && catalog.fallback !== undefined ? [catalog.fallback] : listed;
  if (!Array.isArray(parsers)) return;
  strategy.parsers = parsers.map((entry, index) => {
    if (typeof entry !== 'string') return entry;
    return find(entry, 'parser', catalog, [...path, 'parsers', index], problems) ?? entry;
  });
}

function find(reference: string, kind: Kind, catalog: Catalog, path: Path, problems: Problem[]): JsonObject | undefined {
  const component = catalog.byName.get(reference);
  if (component) return structuredClone(component);
  problems.push({
    path,
    reason: `${kind} '${reference}' not found in components.${KINDS[kind].plural}`,
    type: 'reference',
    input: reference,
  });
  return undefined;
}

function eachObject(list: unknown, visit: (entry: JsonObject, index: number) => void): void {
  if (!Array.isArray(list)) return;
  list.forEach((entry, index) => {
    if (isObject(entry)) visit(entry, index);
  });
}

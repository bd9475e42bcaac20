import type { ProjectConfig } from '../../schemas/generated/config/project.js';
import type { Path, Problem } from './problems.js';

/** The processing strategy that exists without being configured. */
export const BUILT_IN_STRATEGY = 'universal_rag';

/** Rules within a file that make it unusable when broken: unique names, prompt sets that exist, the form of `schema`. */
export function brokenRules(config: ProjectConfig): Problem[] {
  return [...duplicates(config), ...unknownPromptSets(config), ...schemaReference(config)];
}

/** Names that point at nothing. A file with them still works as far as they are not used, so reading tolerates what saving refuses. */
export function danglingNames(config: ProjectConfig): Problem[] {
  const problems: Problem[] = [];
  const { runtime, rag, datasets = [], voice, memory, mcp } = config;
  const models = names(runtime.models);
  const databases = names(rag?.databases);
  const strategies = [BUILT_IN_STRATEGY, ...names(rag?.data_processing_strategies)];
  const stores = names(memory?.stores);
  const expect = (value: string | undefined, known: string[], path: Path, what: string): void => {
    if (value === undefined || known.includes(value)) return;
    problems.push({ path, reason: `no ${what} '${value}' (${listed(known)})`, type: 'reference', input: value });
  };
  expect(runtime.default_model, models, ['runtime', 'default_model'], 'model');
  expect(voice?.llm_model, models, ['voice', 'llm_model'], 'model');
  expect(rag?.default_database, databases, ['rag', 'default_database'], 'database');
  expect(memory?.default_store, stores, ['memory', 'default_store'], 'memory store');
  runtime.models.forEach((model, index) => {
    expect(model.target_database, databases, ['runtime', 'models', index, 'target_database'], 'database');
    const own = typeof model.memory === 'object' ? model.memory.store : undefined;
    expect(own, stores, ['runtime', 'models', index, 'memory', 'store'], 'memory store');
    model.mcp_servers?.forEach((server, place) => {
      expect(server, names(mcp?.servers), ['runtime', 'models', index, 'mcp_servers', place], 'tool server');
    });
  });
  datasets.forEach((dataset, index) => {
    expect(dataset.database, databases, ['datasets', index, 'database'], 'database');
    expect(dataset.data_processing_strategy, strategies, ['datasets', index, 'data_processing_strategy'], 'data processing strategy');
    expect(dataset.memory, stores, ['datasets', index, 'memory'], 'memory store');
  });
  rag?.databases?.forEach((database, index) => {
    const path = ['rag', 'databases', index];
    expect(
      database.default_embedding_strategy,
      names(database.embedding_strategies),
      [...path, 'default_embedding_strategy'],
      'embedding strategy',
    );
    expect(
      database.default_retrieval_strategy,
      names(database.retrieval_strategies),
      [...path, 'default_retrieval_strategy'],
      'retrieval strategy',
    );
    database.retrieval_strategies?.forEach((strategy, place) => {
      const model =
        strategy.type === 'CrossEncoderRerankedStrategy' || strategy.type === 'MultiTurnRAGStrategy'
          ? strategy.config?.model_name
          : undefined;
      // Either the name of a configured model or the identifier of one.
      const known = [...models, ...runtime.models.map((entry) => entry.model)];
      if (typeof model === 'string') expect(model, known, [...path, 'retrieval_strategies', place, 'config', 'model_name'], 'model');
    });
  });
  return problems;
}

function duplicates(config: ProjectConfig): Problem[] {
  const problems: Problem[] = [];
  const unique = (entries: readonly { name?: string }[] | undefined, path: Path, what: string): void => {
    const seen = new Set<string>();
    entries?.forEach(({ name }, index) => {
      if (name === undefined) return;
      if (seen.has(name))
        problems.push({ path: [...path, index, 'name'], reason: `duplicate ${what} name '${name}'`, type: 'duplicate', input: name });
      seen.add(name);
    });
  };
  unique(config.runtime.models, ['runtime', 'models'], 'model');
  unique(config.prompts, ['prompts'], 'prompt set');
  unique(config.datasets, ['datasets'], 'dataset');
  unique(config.memory?.stores, ['memory', 'stores'], 'memory store');
  unique(config.mcp?.servers, ['mcp', 'servers'], 'tool server');
  unique(config.rag?.databases, ['rag', 'databases'], 'database');
  unique(config.rag?.data_processing_strategies, ['rag', 'data_processing_strategies'], 'data processing strategy');
  config.rag?.databases?.forEach((database, index) => {
    const path = ['rag', 'databases', index];
    unique(database.embedding_strategies, [...path, 'embedding_strategies'], 'embedding strategy');
    unique(database.retrieval_strategies, [...path, 'retrieval_strategies'], 'retrieval strategy');
  });
  return problems;
}

function unknownPromptSets(config: ProjectConfig): Problem[] {
  const known = names(config.prompts);
  return config.runtime.models.flatMap((model, index) =>
    (model.prompts ?? []).flatMap((name, place): Problem[] => {
      if (known.includes(name)) return [];
      const reason = `no prompt set '${name}' (${listed(known)})`;
      return [{ path: ['runtime', 'models', index, 'prompts', place], reason, type: 'reference', input: name }];
    }),
  );
}

/** The five checks on `schema`: has a class, relative, no `..`, under `schemas/`, a `.py` file; a `.json` file needs no `::`. */
function schemaReference(config: ProjectConfig): Problem[] {
  const { schema } = config;
  if (schema === undefined) return [];
  const problem = (reason: string): Problem[] => [{ path: ['schema'], reason, type: 'schema_reference', input: schema }];
  const [file = '', definition, ...rest] = schema.split('::');
  const isJson = file.endsWith('.json');
  if (rest.length > 0 || definition === '' || (definition === undefined && !isJson)) {
    return problem("must be '<file>::<name>', such as 'schemas/answer.py::Answer' (a .json file may stand alone)");
  }
  if (/^(?:[/\\]|[A-Za-z]:)/.test(file)) return problem('the path must be relative to the project directory');
  if (file.split(/[/\\]/).includes('..')) return problem("the path must not contain '..'");
  if (!file.startsWith('schemas/')) return problem("the path must lie under 'schemas/'");
  if (!isJson && !file.endsWith('.py')) return problem('the file must end in .py or .json');
  return [];
}

function names(entries: readonly { name: string }[] | undefined): string[] {
  return (entries ?? []).map((entry) => entry.name);
}

function listed(known: string[]): string {
  return known.length === 0 ? 'there are none' : `available: ${known.join(', ')}`;
}

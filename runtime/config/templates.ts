import { statSync } from 'node:fs';
import { join } from 'node:path';
import { FIRST_MODEL } from '../../models/built-in.js';
import { Failure } from '../../schemas/errors.js';
import { isName, quote } from '../base/names.js';
import { readProjectText } from './project-file.js';

/** The lines of a text, `spaces` further in. */
const indented = (spaces: number, text: string): string => text.replaceAll(/^(?=.)/gm, ' '.repeat(spaces));

/** The beginning of a template, with the model and what it is told: `what` the project does, notes and settings of the model, and the system text. */
const beginning = ({
  what = '',
  modelNote = '',
  model = '',
  told,
}: {
  what?: string;
  modelNote?: string;
  model?: string;
  told: string;
}): string =>
  `# A Quern project${what}. An edit of this file is seen by the next request.
version: v1
name: project
namespace: default

# Models that chat requests may name; without a name, default_model answers.
runtime:
  default_model: default
  models:
    - name: default
      # universal is the built-in runtime; others: compat_api, local_runner, local_accel.
      provider: universal
${modelNote}      model: ${FIRST_MODEL.name}
      description: The built-in model, offline.
${model}
# Put before every conversation, in this order. {{variable | default}} takes values from the request.
prompts:
  - name: default
    messages:
      - role: system
        content: ${told}
`;

const HELPFUL = 'You are a helpful assistant.';

const EMBEDDING = `- name: default_embeddings
  type: LexicalEmbedder
`;

const RETRIEVAL = `# Words and likeness together: the best that needs no download (docs/benchmarks.md, quality).
- name: hybrid_search
  type: HybridUniversalStrategy
  config:
    final_k: 10
  default: true
- name: basic_search
  type: BasicSimilarityStrategy
  config:
    top_k: 10
`;

const PARSER = `type: auto
config:
  chunk_size: 1000
  chunk_overlap: 200
`;

/** How files are read: `parser` is an entry of its list, and `extractors` are some behind those of every template. */
const processing = (parser: string, extractors: readonly string[] = []): string => `  data_processing_strategies:
    - name: universal_processor
      description: Reads every known kind of document.
      parsers:
        - ${indented(10, parser).trim()}
      extractors:
${['ContentStatisticsExtractor', 'HeadingExtractor', 'KeywordExtractor', ...extractors].map((type) => `        - type: ${type}\n`).join('')}
# Sets of uploaded files; each names a database and a strategy from above.
`;

/** A project that chats with the built-in model and has one retrieval database ready. */
const defaultTemplate = `${beginning({
  modelNote: '      # A built-in model, a path to a GGUF file, or <org>/<repo>[:QUANT] from the hub cache.\n',
  told: HELPFUL,
})}
# Retrieval: where chunks of documents are kept and how they are found.
rag:
  default_database: main_database
  databases:
    - name: main_database
      type: NativeStore
      default_embedding_strategy: default_embeddings
      embedding_strategies:
${indented(8, EMBEDDING)}      default_retrieval_strategy: hybrid_search
      retrieval_strategies:
${indented(8, RETRIEVAL)}${processing(PARSER)}datasets: []
`;

/** A project for questions about documents, with reusable retrieval components. */
const ragTemplate = `${beginning({
  what: ' that answers from documents',
  model: '      rag_enabled: true\n      target_database: main_database\n',
  told: `>-
          You answer from the documents you are given. Say which source you used, and say so when the documents do not hold the answer.`,
})}
rag:
  default_database: main_database
  # Parts that databases and strategies may refer to by name.
  components:
    embedding_strategies:
${indented(6, EMBEDDING)}    retrieval_strategies:
${indented(6, RETRIEVAL)}      - name: filtered_search
        type: MetadataFilteredStrategy
        config:
          top_k: 10
          filter_mode: post
          fallback_multiplier: 2
    parsers:
      - name: any_document
${indented(8, PARSER)}    defaults:
      embedding_strategy: default_embeddings
      retrieval_strategy: hybrid_search
      parser: any_document
  databases:
    - name: main_database
      type: NativeStore
${processing('any_document', ['EntityExtractor', 'DateTimeExtractor', 'LinkExtractor', 'PatternExtractor', 'TableExtractor'])}datasets:
  - name: default
    database: main_database
    data_processing_strategy: universal_processor
`;

/** A project with a model and prompts only. */
const serverTemplate = beginning({
  what: ' that serves chat',
  model: `    # A hosted model; the key comes from the environment and is never stored (QUERN_*, keys of known hosts, and --allow-env):
    # - name: hosted
    #   provider: compat_api
    #   model: model-name
    #   base_url: https://api.example.com/v1
    #   api_key: \${env:OPENAI_API_KEY}
`,
  told: HELPFUL,
});

/** Templates that ship with the program: name -> YAML text. LlamaFarm's command line calls the one with retrieval `advanced`. */
const BUILT_IN = { default: defaultTemplate, server: serverTemplate, rag: ragTemplate, advanced: ragTemplate } satisfies Record<
  string,
  string
>;

const EXTENSIONS = ['.yaml', '.yml'];

/** The template used when a request names none: `QUERN_CONFIG_TEMPLATE`, `LF_CONFIG_TEMPLATE`, else `default`. */
export function defaultTemplateName(environment: NodeJS.ProcessEnv = process.env): string {
  return environment.QUERN_CONFIG_TEMPLATE || environment.LF_CONFIG_TEMPLATE || 'default';
}

/**
 * The YAML text of a template: a file in `directory` first, so that an operator can replace a built-in one, else the built-in one.
 * Throws `not_found` naming what was searched.
 */
export function templateText(name: string, directory: string): string {
  if (isName(name)) {
    for (const extension of EXTENSIONS) {
      const path = join(directory, name + extension);
      if (statSync(path, { throwIfNoEntry: false })?.isFile()) return readProjectText(path, directory, `Template ${name}`).text;
    }
    if (Object.hasOwn(BUILT_IN, name)) return BUILT_IN[name as keyof typeof BUILT_IN];
  }
  const searched = `${Object.keys(BUILT_IN).join(', ')} (built in), ${EXTENSIONS.map((extension) => join(directory, `<name>${extension}`)).join(', ')}`;
  throw new Failure('not_found', `Configuration template ${quote(name)} not found. Searched: ${searched}.`, {
    code: 'ConfigTemplateNotFound',
  });
}

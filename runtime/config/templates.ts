import { statSync } from 'node:fs';
import { join } from 'node:path';
import { FIRST_MODEL } from '../../models/built-in.js';
import { Failure } from '../../schemas/errors.js';
import { isName, quote } from './names.js';
import { readProjectText } from './project-file.js';

/** A project that chats with the built-in model and has one retrieval database ready. */
const defaultTemplate = `# A Quern project. An edit of this file is seen by the next request.
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
      # A built-in model, a path to a GGUF file, or <org>/<repo>[:QUANT] from the hub cache.
      model: ${FIRST_MODEL.name}
      description: The built-in model, offline.

# Put before every conversation, in this order. {{variable | default}} takes values from the request.
prompts:
  - name: default
    messages:
      - role: system
        content: You are a helpful assistant.

# Retrieval: where chunks of documents are kept and how they are found.
rag:
  default_database: main_database
  databases:
    - name: main_database
      type: NativeStore
      default_embedding_strategy: default_embeddings
      embedding_strategies:
        - name: default_embeddings
          type: LexicalEmbedder
      default_retrieval_strategy: hybrid_search
      retrieval_strategies:
        # Words and likeness together: the best that needs no download (docs/benchmarks.md, quality).
        - name: hybrid_search
          type: HybridUniversalStrategy
          config:
            final_k: 10
          default: true
        - name: basic_search
          type: BasicSimilarityStrategy
          config:
            top_k: 10
  data_processing_strategies:
    - name: universal_processor
      description: Reads every known kind of document.
      parsers:
        - type: auto
          config:
            chunk_size: 1000
            chunk_overlap: 200
      extractors:
        - type: ContentStatisticsExtractor
        - type: HeadingExtractor
        - type: KeywordExtractor

# Sets of uploaded files; each names a database and a strategy from above.
datasets: []
`;

/** A project for questions about documents, with reusable retrieval components. */
const ragTemplate = `# A Quern project that answers from documents. An edit of this file is seen by the next request.
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
      model: ${FIRST_MODEL.name}
      description: The built-in model, offline.
      rag_enabled: true
      target_database: main_database

# Put before every conversation, in this order. {{variable | default}} takes values from the request.
prompts:
  - name: default
    messages:
      - role: system
        content: >-
          You answer from the documents you are given. Say which source you used, and say so when the documents do not hold the answer.

rag:
  default_database: main_database
  # Parts that databases and strategies may refer to by name.
  components:
    embedding_strategies:
      - name: default_embeddings
        type: LexicalEmbedder
    retrieval_strategies:
      # Words and likeness together: the best that needs no download (docs/benchmarks.md, quality).
      - name: hybrid_search
        type: HybridUniversalStrategy
        config:
          final_k: 10
        default: true
      - name: basic_search
        type: BasicSimilarityStrategy
        config:
          top_k: 10
      - name: filtered_search
        type: MetadataFilteredStrategy
        config:
          top_k: 10
          filter_mode: post
          fallback_multiplier: 2
    parsers:
      - name: any_document
        type: auto
        config:
          chunk_size: 1000
          chunk_overlap: 200
    defaults:
      embedding_strategy: default_embeddings
      retrieval_strategy: hybrid_search
      parser: any_document
  databases:
    - name: main_database
      type: NativeStore
  data_processing_strategies:
    - name: universal_processor
      description: Reads every known kind of document.
      parsers:
        - any_document
      extractors:
        - type: ContentStatisticsExtractor
        - type: HeadingExtractor
        - type: KeywordExtractor
        - type: EntityExtractor
        - type: DateTimeExtractor
        - type: LinkExtractor
        - type: PatternExtractor
        - type: TableExtractor

# Sets of uploaded files; each names a database and a strategy from above.
datasets:
  - name: default
    database: main_database
    data_processing_strategy: universal_processor
`;

/** A project with a model and prompts only. */
const serverTemplate = `# A Quern project that serves chat. An edit of this file is seen by the next request.
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
      model: ${FIRST_MODEL.name}
      description: The built-in model, offline.
    # A hosted model; the key comes from the environment and is never stored (QUERN_*, keys of known hosts, and --allow-env):
    # - name: hosted
    #   provider: compat_api
    #   model: model-name
    #   base_url: https://api.example.com/v1
    #   api_key: \${env:OPENAI_API_KEY}

# Put before every conversation, in this order. {{variable | default}} takes values from the request.
prompts:
  - name: default
    messages:
      - role: system
        content: You are a helpful assistant.
`;

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

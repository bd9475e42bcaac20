import { FIRST_MODEL } from '../../../models/built-in.js';

/** A project for questions about documents, with reusable retrieval components. */
export const ragTemplate = `# A Quern project that answers from documents. An edit of this file is seen by the next request.
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

import { FIRST_MODEL } from '../../../models/built-in.js';

/** A project that chats with the built-in model and has one retrieval database ready. */
export const defaultTemplate = `# A Quern project. An edit of this file is seen by the next request.
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

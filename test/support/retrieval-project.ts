import { docx, drawn, pdf, wordParagraph } from './documents.js';

/** A project whose databases, strategies and models are there in every shape that questions and chats can name. */
export const DOCUMENTS_PROJECT = `version: v1
runtime:
  default_model: plain
  models:
    - {name: plain, provider: universal, model: x}
    - {name: silent, provider: universal, model: x, rag_enabled: false}
    - {name: aimed, provider: universal, model: x, target_database: second_db}
prompts:
  - {name: base, messages: [{role: system, content: Be kind.}, {role: system, content: Be short.}]}
rag:
  components:
    embedding_strategies: [{name: words, type: LexicalEmbedder}]
    retrieval_strategies: [{name: near, type: BasicSimilarityStrategy}]
  databases:
    - name: first_db
      type: NativeStore
      embedding_strategies: [{name: words, type: LexicalEmbedder, config: {dimension: 256}}]
      default_retrieval_strategy: near
      retrieval_strategies:
        - {name: lexical, type: BM25Retriever, config: {top_k: 2}}
        - {name: near, type: BasicSimilarityStrategy, config: {top_k: 3}}
        - {name: strict, type: BasicSimilarityStrategy, config: {score_threshold: 0.999}}
        - {name: turns, type: MultiTurnRAGStrategy}
        - {name: crossed, type: CrossEncoderRerankedStrategy, config: {model_name: nobody}}
    - name: second_db # by reference
      type: NativeStore
      embedding_strategy: words
      retrieval_strategy: near
    - name: spare_db
      type: NativeStore
      embedding_strategies: [{name: a, type: LexicalEmbedder}, {name: b, type: LexicalEmbedder, priority: 3}]
      default_embedding_strategy: b
      retrieval_strategies: [{name: c, type: BM25Retriever}, {name: d, type: BM25Retriever, default: true}]
  data_processing_strategies:
    - name: texts
      parsers:
        - {type: CSVParser, config: {chunk_size: 1}}
        - {type: auto}
      extractors: [{type: HeadingExtractor}]
datasets:
  - {name: docs, database: first_db, data_processing_strategy: texts}
  - {name: others, database: second_db, data_processing_strategy: texts}
`;

/** Files of several kinds; each speaks of something else. */
export const DOCUMENTS: Readonly<Record<string, string | Uint8Array>> = {
  'Volcano.md': '# Etna\n\nThe volcano Etna erupts in Sicily.\n\n# Hekla\n\nThe volcano Hekla erupts in Iceland.\n',
  'bread.html': '<html><head><title>Baking</title></head><body><p>Sourdough bread needs flour, water and salt.</p></body></html>',
  'cities.csv': 'city,year,tag\nOslo,2019,a\nBergen,2021,b\nParis,2023,a\n',
  'engine.pdf': pdf([drawn([[12, 0, 'The steam engine was built by Watt.']]), drawn([[12, 0, 'The diesel engine burns heavy oil.']])]),
  'letter.docx': docx(wordParagraph('Quarterly turnover of the company rose by seven percent.')),
};

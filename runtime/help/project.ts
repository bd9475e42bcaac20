import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FIRST_MODEL } from '../../models/built-in.js';
import { NEW_PROJECT_FILE } from '../config/project-file.js';
import { builtInRoot, HELP_PROJECT } from '../projects/cache.js';

/** The dataset that holds the pages. */
export const PAGES = 'pages';

/** Passages are few and short: the built-in model reads two thousand tokens. */
const PROJECT = `# The help of this program: made by it, and written anew when it is changed.
version: v1
name: ${HELP_PROJECT.name}
namespace: ${HELP_PROJECT.namespace}

runtime:
  default_model: default
  models:
    - name: default
      provider: universal
      model: ${FIRST_MODEL.name}
      rag_enabled: true
      target_database: documents

prompts:
  - name: role
    messages:
      - role: system
        content: >-
          You answer questions about Quern, a local AI runtime, from the passages of its documentation. Be short. Say so when the passages do not hold the answer.

rag:
  default_database: documents
  databases:
    - name: documents
      type: NativeStore
      embedding_strategies:
        - name: words
          type: LexicalEmbedder
      retrieval_strategies:
        - name: words_and_likeness
          type: HybridUniversalStrategy
          config:
            final_k: 4
          default: true
  data_processing_strategies:
    - name: texts
      parsers:
        - type: auto
          config:
            chunk_size: 700
            chunk_overlap: 0
      extractors:
        - type: HeadingExtractor

datasets:
  - name: ${PAGES}
    data_processing_strategy: texts
    database: documents
`;

/** Writes the file of the help project unless it is there as it should be. Throws what the file system throws. */
export function placeHelpProject(dataDir: string): void {
  const folder = join(builtInRoot(dataDir), HELP_PROJECT.namespace, HELP_PROJECT.name);
  const path = join(folder, NEW_PROJECT_FILE);
  if (textOf(path) === PROJECT) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${path}.new`, PROJECT);
  renameSync(`${path}.new`, path);
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

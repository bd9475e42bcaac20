/** What a chat needs to know of its project: models, databases, whether it speaks. */
import type { ModelList } from '$schemas/core/projects';
import { get } from '../../lib/api';

export interface Database {
  readonly name: string;
  /** Names of its retrieval strategies. */
  readonly strategies: readonly string[];
}

export interface ProjectParts {
  readonly models: ModelList['models'];
  readonly databases: readonly Database[];
  /** Whether the project can be spoken with. */
  readonly speaks: boolean;
  /** Name of the model that a spoken conversation is with; empty where the project says it by `voice.llm_model`. */
  readonly talksWith: string;
  /** Whether the project names the model that listens, which the daemon then fetches where it is missing. */
  readonly namesEars: boolean;
}

interface Config {
  rag?: { databases?: { name: string; retrieval_strategies?: { name: string }[] }[] };
  voice?: { enabled?: boolean; llm_model?: string; stt?: { model?: string } };
}

/** The model that comes with the daemon. */
export const BUILT_IN = 'quern-tiny';

export async function projectParts(path: string): Promise<ProjectParts> {
  const [{ models }, { project }] = await Promise.all([get<ModelList>(`${path}/models`), get<{ project: { config: Config } }>(path)]);
  const databases = (project.config.rag?.databases ?? []).map(({ name, retrieval_strategies: strategies = [] }) => ({
    name,
    strategies: strategies.map((one) => one.name),
  }));
  const { voice } = project.config;
  return {
    models,
    databases,
    speaks: voice?.enabled !== false,
    talksWith: voice?.llm_model ? '' : ((models.find((one) => one.default) ?? models[0])?.name ?? ''),
    namesEars: voice?.stt?.model !== undefined,
  };
}

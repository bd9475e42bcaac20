/** Limits of the models in memory. */
export interface ResidencyLimits {
  /** Idle time after which a model is unloaded. */
  readonly unloadAfterMs: number;
  /** How often that is looked at. */
  readonly checkEveryMs: number;
  /** Models in memory at once. */
  readonly maxLoaded: number;
}

const UNLOAD_AFTER_S = 300;
const CHECK_EVERY_S = 30;
const MAX_LOADED = 16;

function positive(env: NodeJS.ProcessEnv, name: string, otherwise: number): number {
  const value = Number(env[name]);
  return env[name] !== undefined && Number.isFinite(value) && value > 0 ? value : otherwise;
}

/** Limits by `MODEL_UNLOAD_TIMEOUT` and `CLEANUP_CHECK_INTERVAL` (seconds) and `MAX_LOADED_MODELS`; 300 s, 30 s and 16 without them. */
export function residencyLimits(env: NodeJS.ProcessEnv = process.env): ResidencyLimits {
  return {
    unloadAfterMs: positive(env, 'MODEL_UNLOAD_TIMEOUT', UNLOAD_AFTER_S) * 1000,
    checkEveryMs: positive(env, 'CLEANUP_CHECK_INTERVAL', CHECK_EVERY_S) * 1000,
    maxLoaded: Math.floor(positive(env, 'MAX_LOADED_MODELS', MAX_LOADED)),
  };
}

import type { VoiceFiles } from '../../engines/contracts/speaking.js';
import type { VoiceEngineName } from '../../engines/speaking/index.js';
import type { ModelPlaces } from '../../models/find/contract.js';
import type { Voice } from '../contract.js';

/** Who speaks when a model and a voice are asked for. */
export interface FoundVoice {
  readonly engine: VoiceEngineName;
  /** As the engine knows it. */
  readonly voice: string;
  /** The model that is loaded, as listings call it: `tts:<model>:<voice>`. One copy serves all of its voices. */
  readonly key: string;
  /** Its name in messages. */
  readonly name: string;
  readonly files: Pick<VoiceFiles, 'folder' | 'graph'>;
  /** Memory that it takes. */
  readonly sizeBytes: number;
  /** What whoever asked should know, such as that another speaks. */
  readonly notes: readonly string[];
}

/** A model that speaks, or a family of them. */
export interface Speaker {
  /** As requests name it. */
  readonly model: string;
  /** Whether a request's model is one of these. `files`: what its repository or folder holds, relative; none where it is not here. */
  answers(model: string, files: readonly string[]): boolean;
  /** Voices of one of its models, the default first; empty where it cannot speak on this machine. */
  voices(model: string, places: ModelPlaces): Promise<readonly Voice[]>;
  /** Throws `not_found` for a model or a voice that is not here, with the remedy. */
  find(model: string, voice: string, places: ModelPlaces): Promise<FoundVoice>;
}

import type { VoiceConfig } from '../../schemas/generated/config/voice.js';
import type { NeedModel } from '../models/fetch/on-use.js';
import type { SpeechInService, SpeechOutService } from '../speech/contract.js';

/** What a conversation hears and speaks with. */
interface Speech {
  readonly speech: Pick<SpeechOutService, 'speak' | 'keepVoice'>;
  readonly transcription: SpeechInService;
}

/** How models that are missing come. */
export interface SpeechFetching {
  readonly need: NeedModel;
  /** Rejects with `not_found` where a model that speaks is not on this machine, also where another one speaks in its place. */
  readonly findVoice: (model: string) => Promise<unknown>;
}

/**
 * The same services; the models that the project's file names, and no others, are fetched where they are missing. The beginning of a conversation waits
 * for that; a turn says how far it is.
 */
export function fetchingSpeech(
  { need, findVoice }: SpeechFetching,
  voice: VoiceConfig | undefined,
  { speech, transcription }: Speech,
): Speech {
  const ears = voice?.stt?.model;
  const mouth = voice?.tts?.model;
  const patient = (signal: AbortSignal) => ({ signal, waitMs: Number.POSITIVE_INFINITY });
  const once = (signal: AbortSignal) => ({ signal, waitMs: 0 });
  return {
    speech: {
      speak: (request, signal) => {
        const work = () => speech.speak(request, signal);
        return request.model === mouth ? need(request.model, once(signal), work) : work();
      },
      keepVoice: (model, name, signal) => {
        const work = () => speech.keepVoice(model, name, signal);
        if (model !== mouth) return work();
        // Another voice may speak until this one is here.
        need(model, patient(signal), () => findVoice(model)).catch(() => undefined);
        return need(model, patient(signal), work);
      },
    },
    transcription: {
      transcribe: (request, signal) => {
        const work = () => transcription.transcribe(request, signal);
        return request.model === ears ? need(request.model, once(signal), work) : work();
      },
      keepTranscriber: (model, signal) => {
        const work = () => transcription.keepTranscriber(model, signal);
        return model === ears ? need(model, patient(signal), work) : work();
      },
    },
  };
}

import type { Projects } from '../../runtime/projects/projects.js';
import type { Services } from '../../runtime/services/services.js';
import type { SpeechOut } from '../../runtime/speech/contract.js';
import { type Endpoint, endpoint, type Request } from '../../schemas/endpoint.js';
import { SPEECH_MEDIA_TYPES, speechReply, voiceList } from '../universal/speech.js';
import { TRANSCRIPTION } from '../universal/transcriptions.js';
import { placeOf } from './place.js';

/** What the speech endpoints of projects work on. */
export interface CoreSpeechContext {
  readonly projects: Pick<Projects, 'load'>;
  /** In this process, or the runtime that the core was told to use. */
  readonly core: Pick<Services, 'speech' | 'transcription'>;
}

/** Throws `not_found` for a project that there is not. */
function speechOf({ projects, core }: CoreSpeechContext, request: Request): SpeechOut {
  projects.load(...placeOf(request));
  return core.speech;
}

/** Text to speech, and speech to text, for projects. */
export const speechEndpoints: Endpoint<CoreSpeechContext>[] = [
  endpoint<CoreSpeechContext>({
    method: 'POST',
    path: '/v1/{namespace}/{project}/audio/speech',
    id: 'project_speech',
    access: 'members',
    summary: 'Speak a text',
    tag: 'audio',
    body: 'universal/speech#SpeechRequest',
    mediaTypes: SPEECH_MEDIA_TYPES,
    streams: true,
    errorShape: 'by-client',
    handler: (context, request) => speechReply(speechOf(context, request), request),
  }),
  endpoint<CoreSpeechContext>({
    method: 'GET',
    path: '/v1/{namespace}/{project}/audio/voices',
    id: 'project_voices',
    access: 'members',
    summary: 'List the voices',
    tag: 'audio',
    query: 'universal/speech#VoicesQuery',
    response: 'universal/speech#VoiceList',
    handler: async (context, request) => ({
      json: await voiceList(speechOf(context, request), request.query.model as string | undefined),
    }),
  }),
  endpoint<CoreSpeechContext>({
    ...TRANSCRIPTION,
    path: '/v1/{namespace}/{project}/audio/transcriptions',
    id: 'project_transcription',
    access: 'members',
    errorShape: 'by-client',
    handler: ({ projects, core }, request) => {
      projects.load(...placeOf(request));
      return TRANSCRIPTION.handler(core, request);
    },
  }),
];

import type { Services } from '../../runtime/services/services.js';
import { type Endpoint, endpoint } from '../../schemas/endpoint.js';
import { SPEECH_MEDIA_TYPES, speechReply, voiceList } from './speech-wire.js';

/** Text to speech. */
export const speechEndpoints: Endpoint<Services>[] = [
  endpoint<Services>({
    method: 'POST',
    path: '/v1/audio/speech',
    id: 'create_speech',
    access: 'users',
    summary: 'Speak a text',
    tag: 'audio',
    body: 'universal/speech#SpeechRequest',
    mediaTypes: SPEECH_MEDIA_TYPES,
    streams: true,
    errorShape: 'openai',
    handler: ({ speech }, request) => speechReply(speech, request),
  }),
  endpoint<Services>({
    method: 'GET',
    path: '/v1/audio/voices',
    id: 'list_voices',
    access: 'users',
    summary: 'List the voices',
    tag: 'audio',
    query: 'universal/speech#VoicesQuery',
    response: 'universal/speech#VoiceList',
    errorShape: 'openai',
    handler: async ({ speech }, { query }) => ({ json: await voiceList(speech, query.model as string | undefined) }),
  }),
];

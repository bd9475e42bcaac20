import { join } from 'node:path';
import { callsOf, Lazy } from '../base/once.js';
import type { CompletionSource } from '../completions/request.js';
import type { EncoderService } from '../encoders/contract.js';
import type { Events } from '../events/events.js';
import type { AnomalyService } from '../ml/anomaly/contract.js';
import type { BufferLimits, BufferService } from '../ml/buffers/contract.js';
import type { ClassifierService } from '../ml/classifiers/contract.js';
import type { StreamLimits, StreamService } from '../ml/streams/contract.js';
import type { NeedModel } from '../models/fetch/on-use.js';
import type { Models } from '../models/residency/models.js';
import type { Outbound } from '../net/outbound.js';
import type { ChatSettings } from '../providers/compat/client.js';
import type { Provider } from '../providers/contract.js';
import type { SpeechInService, SpeechOutService } from '../speech/contract.js';
import type { Store } from '../store/store.js';
import type { VisionService } from '../vision/contract.js';

/** What a universal runtime does, each by one interface whether it is here or elsewhere. A new service is added here and to `PLACES`. */
export interface Services {
  /** Chats of projects. */
  readonly completions: Provider;
  readonly encoders: EncoderService;
  readonly vision: VisionService;
  readonly anomaly: AnomalyService;
  readonly buffers: BufferService;
  readonly streams: StreamService;
  readonly classifiers: ClassifierService;
  readonly speech: SpeechOutService;
  readonly transcription: SpeechInService;
}

/** What the services are opened with. */
export interface ServiceParts {
  readonly dataDir: string;
  readonly models: Models;
  /** Completions by the models of this machine. */
  readonly completions: CompletionSource;
  readonly store: Store;
  /** Where fits of this machine are kept. */
  readonly events?: Events;
  readonly outbound: Outbound;
  /** Remote universal runtimes that the core uses instead of the one in this process. */
  readonly runtimeUrls: readonly string[];
  /** How chats are sent to runtimes. */
  readonly chats?: ChatSettings;
  /** Fetches the models that explicit jobs name; without it none is fetched. */
  readonly need?: NeedModel;
  /** What buffers and streams may take, where it is less than usual. */
  readonly limits?: { readonly buffers: BufferLimits; readonly streams: StreamLimits };
}

/** Something that a service of this machine keeps in memory, by the runtime's keys. */
export interface InMemory {
  readonly key: string;
  readonly type: string;
  readonly name: string;
}

/** What a service of this machine may offer beside its interface. */
interface Local {
  /** What it keeps in memory. */
  loaded?(): readonly InMemory[];
  /** Ends work; what is being written is finished. */
  close?(): Promise<void>;
}

interface Places<Service> {
  /** On this machine; `here` are the other services of this machine. */
  here(parts: ServiceParts, here: Services): Promise<Service & Local>;
  /** On the runtimes of `runtimeUrls`. */
  elsewhere(parts: ServiceParts): Promise<Service>;
}

/** How each service is opened in either place. Its code is loaded at its first call. */
const PLACES: { readonly [Name in keyof Services]: Places<Services[Name]> } = {
  completions: {
    here: async ({ completions }) => (await import('../providers/universal.js')).createUniversalProvider(completions),
    elsewhere: async ({ outbound, runtimeUrls, chats }) => {
      const [{ RemoteCompletions }, { ChatClient }, { RoundRobin, runtimeBase }] = await Promise.all([
        import('../remote/completions.js'),
        import('../providers/compat/client.js'),
        import('../net/ask/bases.js'),
      ]);
      return new RemoteCompletions(new ChatClient(outbound, chats), new RoundRobin(runtimeUrls.map(runtimeBase)));
    },
  },
  encoders: {
    here: async ({ models }) => {
      const [{ Encoders }, { lexicalEmbeddings }] = await Promise.all([
        import('../encoders/encoders.js'),
        import('../rag/embedders/lexical.js'),
      ]);
      const lexical = { embed: lexicalEmbeddings };
      return new Encoders({ models, builtIn: { lexical, 'quern-lexical': lexical } });
    },
    elsewhere: async ({ outbound, runtimeUrls }) => {
      const [{ RemoteEncoders }, { RoundRobin, runtimeBase }] = await Promise.all([
        import('../remote/encoders.js'),
        import('../net/ask/bases.js'),
      ]);
      return new RemoteEncoders(outbound, new RoundRobin(runtimeUrls.map(runtimeBase)));
    },
  },
  vision: {
    here: async ({ models }) => new (await import('../vision/vision.js')).Vision(models),
    elsewhere: async ({ outbound, runtimeUrls }) => new (await import('../remote/vision.js')).RemoteVision(outbound, runtimeUrls),
  },
  anomaly: {
    here: async ({ dataDir, events }) => {
      const { AnomalyDetectors } = await import('../ml/anomaly/detectors.js');
      return new AnomalyDetectors(join(dataDir, 'models', 'anomaly'), events);
    },
    elsewhere: async ({ outbound, runtimeUrls }) => new (await import('../remote/anomaly.js')).RemoteAnomaly(outbound, runtimeUrls),
  },
  buffers: {
    here: async ({ store, limits }) => new (await import('../ml/buffers/buffers.js')).Buffers(store, limits?.buffers),
    elsewhere: async ({ outbound, runtimeUrls }) => new (await import('../remote/buffers.js')).RemoteBuffers(outbound, runtimeUrls),
  },
  streams: {
    here: async ({ store, events, limits }) => new (await import('../ml/streams/streams.js')).Streams(store, limits?.streams, events),
    elsewhere: async ({ outbound, runtimeUrls }) => new (await import('../remote/streams.js')).RemoteStreams(outbound, runtimeUrls),
  },
  classifiers: {
    here: async ({ dataDir, events, need }, { encoders }) => {
      const { Classifiers } = await import('../ml/classifiers/classifiers.js');
      return new Classifiers(join(dataDir, 'models', 'classifier'), encoders, events, need);
    },
    elsewhere: async ({ outbound, runtimeUrls }) => {
      const { RemoteClassifiers } = await import('../remote/classifiers.js');
      return new RemoteClassifiers(outbound, runtimeUrls);
    },
  },
  speech: {
    here: async ({ models }) => new (await import('../speech/speak.js')).LocalSpeech(models),
    elsewhere: async ({ outbound, runtimeUrls }) => new (await import('../remote/speech.js')).RemoteSpeech(outbound, runtimeUrls),
  },
  transcription: {
    here: async ({ models, dataDir }) => {
      const [{ Transcription }, { VoiceDetectors }] = await Promise.all([
        import('../speech/transcription/transcription.js'),
        import('../speech/voice-activity.js'),
      ]);
      return new Transcription(models, dataDir, new VoiceDetectors());
    },
    elsewhere: async ({ outbound, runtimeUrls }) => {
      const { RemoteTranscription } = await import('../remote/speech.js');
      return new RemoteTranscription(outbound, runtimeUrls);
    },
  },
};

/** The services of this machine, and those that the core and its projects use. */
export interface OpenServices {
  readonly here: Services;
  /** The same, or those of the remote runtimes where there are such. */
  readonly core: Services;
  /** What the services of this machine keep in memory. */
  inMemory(): InMemory[];
  /** Closes those of this machine that were used. Close it before the store and the models. */
  close(): Promise<void>;
}

/** Offers every service; none is opened yet. */
export function openServices(parts: ServiceParts): OpenServices {
  const opened: Lazy<Local>[] = [];
  const servicesBy = (open: (places: Places<Local>) => Lazy<Local>): Services =>
    Object.fromEntries(
      Object.entries(PLACES).map(([name, places]) => [name, callsOf(open(places as Places<Local>))]),
    ) as unknown as Services;
  const here: Services = servicesBy((places) => {
    const lazy = new Lazy(() => places.here(parts, here));
    opened.push(lazy);
    return lazy;
  });
  return {
    here,
    core: parts.runtimeUrls.length > 0 ? servicesBy((places) => new Lazy(() => places.elsewhere(parts))) : here,
    inMemory: () => opened.flatMap((lazy) => lazy.opened?.loaded?.() ?? []),
    close: async () => {
      for (const lazy of opened) await (await lazy.settled())?.close?.();
    },
  };
}

import { randomUUID } from 'node:crypto';
import { Failure } from '../../schemas/errors.js';
import type { VoiceConfig } from '../../schemas/generated/config/voice.js';
import type { Query } from '../../schemas/generated/core/voice.js';
import { log } from '../base/log.js';
import type { Chat } from '../chat/chat.js';
import { checkSessionId } from '../chat/session.js';
import type { Spent } from '../completions/budget.js';
import type { Events } from '../events/events.js';
import type { NeedModel } from '../models/fetch/on-use.js';
import type { LoadedProject } from '../projects/projects.js';
import type { SpeechInService, SpeechOutService } from '../speech/contract.js';
import { logVoiceTurn } from './chat-turn.js';
import { type Clock, systemClock } from './clock.js';
import { type Ears, messageOf, type ServerMessage, type TalkRecord, type VoicePeer } from './contract.js';
import { KeptTalk } from './kept-talk.js';
import { VoiceSession } from './session.js';
import { projectSettings, sessionQuery, type VoiceSettings, withSettings } from './settings.js';

/** Conversations at a time; the oldest gives way. */
const MOST_SESSIONS = 100;
/** The code of a connection that is closed for what its address says. */
const REFUSED = 1008;
const CONTROL = /\p{Cc}/gu;

/** What voice chat is made of. */
export interface VoiceParts {
  readonly projects: {
    load(namespace: string, project: string): LoadedProject;
    onErase?(listener: (namespace: string, project: string) => Promise<void>): void;
  };
  readonly chat: Chat;
  readonly speech: Pick<SpeechOutService, 'speak' | 'keepVoice'>;
  readonly transcription: SpeechInService;
  /** Closed with the last conversation, by `close`. */
  readonly ears: Ears;
  readonly clock?: Clock;
  /** Keeps an event of each turn; without it none is kept. */
  readonly events?: Events;
  /** Fetches the speech models that project files name; without it none is fetched. */
  readonly fetching?: SpeechFetching | undefined;
}

/** Where a session is asked for. */
export interface VoiceAddress {
  readonly namespace: string;
  readonly project: string;
  readonly query: Readonly<Record<string, unknown>>;
  /** Whose words are remembered, where others speak with the same project. */
  readonly user?: string | undefined;
  /** Asked before each turn: rejects with why there is none. */
  readonly admit?: (() => Promise<void>) | undefined;
  /** Is told what the answers cost. */
  readonly spent?: Spent | undefined;
  /** The conversation of an id, for spoken turns to be kept in. Throws `not_found`. */
  readonly recordOf: (conversation: string) => TalkRecord;
}

/** Spoken conversations with the models of a project. */
export class Voice {
  readonly #parts: VoiceParts;
  /** Oldest first. */
  readonly #sessions = new Map<VoiceSession, VoiceAddress>();
  /** Conversations that are over, and what was heard of them not yet on disk. */
  readonly #endings = new Set<Promise<void>>();
  /** What projects want to be loaded for good, and how to let go of it. */
  readonly #kept = new Map<string, Promise<() => void>>();
  readonly #abort = new AbortController();

  constructor(parts: VoiceParts) {
    this.#parts = parts;
    parts.projects.onErase?.(async (namespace, project) => {
      const ended = [...this.#sessions].filter(([, at]) => at.namespace === namespace && at.project === project);
      for (const [session] of ended) session.end('the project was deleted');
    });
  }

  /** Conversations under way. */
  get count(): number {
    return this.#sessions.size;
  }

  /** Begins a conversation over a connection that stands. What cannot be is told to the client, whose connection is then closed. */
  open(address: VoiceAddress, peer: VoicePeer): VoiceSession | undefined {
    try {
      return this.#open(address, peer);
    } catch (error) {
      if (!(error instanceof Failure)) log('error', 'a voice session could not begin', { error });
      peer.send(JSON.stringify({ type: 'error', message: messageOf(error) }));
      peer.close(REFUSED, 'the session was refused');
      return undefined;
    }
  }

  /** Ends all conversations; what was heard is on disk then. */
  async close(): Promise<void> {
    for (const session of [...this.#sessions.keys()]) session.end('the daemon stops');
    await Promise.all(this.#endings);
    this.#abort.abort();
    for (const keeping of this.#kept.values()) (await keeping.catch(() => undefined))?.();
    await this.#parts.ears.close();
  }

  #open(address: VoiceAddress, peer: VoicePeer): VoiceSession {
    const { projects, chat, ears, events, fetching, clock = systemClock } = this.#parts;
    const { namespace, project } = address;
    const loaded = projects.load(namespace, project);
    const { voice } = loaded.config;
    const { speech, transcription } = fetching ? fetchingSpeech(fetching, voice, this.#parts) : this.#parts;
    const { session_id: known, conversation_id: conversation, ...given } = sessionQuery(address.query);
    const id = known === undefined ? randomUUID() : checkSessionId(known, ['query', 'session_id']);
    const query: Query = { ...chat.begunWith(namespace, project, id), ...given };
    if (voice?.enabled === false) {
      throw new Failure('bad_request', `Voice chat is switched off in project ${namespace}/${project}: its voice.enabled is false.`);
    }
    const settings = withSettings(projectSettings(voice), query);
    if (settings.llmModel === undefined) {
      throw new Failure('bad_request', 'llm_model is required (via query param or voice.llm_model in config)');
    }
    chat.model(namespace, project, settings.llmModel);
    const record = conversation === undefined ? undefined : address.recordOf(conversation);
    const talk = record && new KeptTalk(record, () => this.#sessions.has(session) && peer.send(JSON.stringify(keptMessage(record))));
    this.#makeRoom(address, id);
    const session: VoiceSession = new VoiceSession({
      namespace,
      project,
      id,
      systemPrompt: query.system_prompt?.replace(CONTROL, (sign) => (sign === '\n' || sign === '\t' ? sign : '')).trim() || undefined,
      begunWith: { ...query },
      talk,
      user: address.user,
      admit: address.admit,
      spent: address.spent,
      settings,
      chat,
      speech,
      transcription,
      hearing: ears.open(),
      peer,
      clock,
      turnEnded: (turn, model, error) => {
        talk?.take(turn, model, error);
        if (events) logVoiceTurn({ events, project: loaded, sessionId: id, model }, turn, error);
      },
      ended: (cutting) => {
        const saving = cutting.then(() => talk?.close());
        this.#sessions.delete(session);
        this.#endings.add(saving);
        void saving.then(() => this.#endings.delete(saving));
      },
    });
    this.#sessions.set(session, address);
    this.#keep(settings, { speak: voice?.tts?.keep_loaded ?? false, transcribe: voice?.stt?.keep_loaded ?? false });
    session.start();
    return session;
  }

  /** A conversation has one client, its last; and the oldest conversations give way. */
  #makeRoom({ namespace, project }: VoiceAddress, id: string): void {
    for (const [session, at] of this.#sessions)
      if (session.id === id && at.namespace === namespace && at.project === project) session.end('the session goes on elsewhere');
    for (const session of this.#sessions.keys()) {
      if (this.#sessions.size < MOST_SESSIONS) break;
      session.end(`more than ${MOST_SESSIONS} voice sessions are open`);
    }
  }

  /** Loads what the project wants to stay loaded, once. */
  #keep({ ttsModel, ttsVoice, sttModel }: VoiceSettings, wanted: { speak: boolean; transcribe: boolean }): void {
    const { speech, transcription } = this.#parts;
    const { signal } = this.#abort;
    const keep = (name: string, load: () => Promise<() => void>): void => {
      if (this.#kept.has(name)) return;
      const keeping = load();
      this.#kept.set(name, keeping);
      // The session tells its client; the next one tries again.
      keeping.catch(() => this.#kept.delete(name));
    };
    if (wanted.speak) keep(`voice ${ttsModel} ${ttsVoice}`, () => speech.keepVoice(ttsModel, ttsVoice, signal));
    if (wanted.transcribe) keep(`transcriber ${sttModel}`, () => transcription.keepTranscriber(sttModel, signal));
  }
}

const keptMessage = ({ id }: TalkRecord): ServerMessage => ({ type: 'turn_kept', conversation_id: id });

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

import type { Projects } from '../../runtime/projects/projects.js';
import type { Voice, VoiceAddress } from '../../runtime/voice/voice.js';
import type { SocketRoute } from '../http/index.js';
import type { SocketListener } from '../http/transport.js';

/** What the WebSocket works on. */
interface VoiceContext {
  readonly projects: Projects;
  readonly voice: Voice;
}

/** The WebSocket of spoken conversations. It is accepted first: what is wrong with its address is told in an `error` message. */
export const voiceSockets: SocketRoute<VoiceContext>[] = [
  {
    path: '/v1/{namespace}/{project}/voice/chat',
    open: (runtime, { params, query }) => voiceListener(runtime, { namespace: params.namespace!, project: params.project!, query }),
  },
];

function voiceListener({ projects, voice }: VoiceContext, address: VoiceAddress): SocketListener {
  let session: ReturnType<typeof voice.open>;
  let isClosed = false;
  /** What comes while a large project file is parsed. */
  let waiting: (() => void)[] | undefined;
  const act = (what: () => void): void => {
    if (waiting) waiting.push(what);
    else what();
  };
  return {
    open: (peer) => {
      const begin = (): void => {
        if (!isClosed) session = voice.open(address, peer);
      };
      const parsing = projects.parsing(address.namespace, address.project);
      if (!parsing) {
        begin();
        return;
      }
      waiting = [begin];
      void parsing.then(() => {
        const all = waiting ?? [];
        waiting = undefined;
        for (const one of all) one();
      });
    },
    message: (content) => act(() => (typeof content === 'string' ? session?.text(content) : session?.binary(content))),
    closed: () => {
      isClosed = true;
      act(() => session?.end());
    },
    stopping: () => session?.end('the daemon stops'),
  };
}

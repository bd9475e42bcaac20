import { log } from '../../runtime/base/log.js';
import { spokenConversation } from '../../runtime/conversations/spoken.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { Voice, VoiceAddress } from '../../runtime/voice/voice.js';
import type { SocketRoute } from '../http/index.js';
import type { SocketListener } from '../http/transport.js';

/** Messages that may come before the session has begun, which takes some milliseconds. */
const MOST_WAITING = 64;
const INTERNAL_ERROR = 1011;

type VoiceContext = Pick<Runtime, 'projects' | 'voice' | 'conversations'>;

/** The WebSocket of spoken conversations. It is accepted first: what is wrong with its address is told in an `error` message. */
export const voiceSockets: SocketRoute<VoiceContext>[] = [
  {
    path: '/v1/{namespace}/{project}/voice/chat',
    access: 'members',
    open: (runtime, { params, query, user }) => {
      const [namespace, project] = [params.namespace!, params.project!];
      const recordOf: VoiceAddress['recordOf'] = (id) =>
        spokenConversation(runtime.conversations, runtime.conversations.place(namespace, project), id);
      return voiceListener(runtime, { namespace, project, query, user, recordOf });
    },
  },
];

function voiceListener({ projects, voice }: Pick<VoiceContext, 'projects' | 'voice'>, address: VoiceAddress): SocketListener {
  let session: ReturnType<Voice['open']>;
  let isClosed = false;
  /** What comes before the session has begun. */
  let waiting: (() => void)[] | undefined = [];
  const act = (what: () => void): void => {
    if (!waiting) what();
    else if (waiting.length < MOST_WAITING) waiting.push(what);
  };
  return {
    open: (peer) => {
      // A large project file that was edited is parsed first, by a worker thread.
      Promise.all([voice(), projects.parsing(address.namespace, address.project)]).then(
        ([opened]) => {
          if (!isClosed) session = opened.open(address, peer);
          const all = waiting ?? [];
          waiting = undefined;
          for (const one of all) one();
        },
        (cause: unknown) => {
          log('error', 'voice chat could not be opened', { cause });
          peer.close(INTERNAL_ERROR, 'voice chat could not be opened');
        },
      );
    },
    message: (content) => act(() => (typeof content === 'string' ? session?.text(content) : session?.binary(content))),
    closed: () => {
      isClosed = true;
      act(() => session?.end());
    },
    stopping: () => session?.end('the daemon stops'),
  };
}

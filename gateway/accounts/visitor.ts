import { createHash, randomUUID } from 'node:crypto';
import type { Caller } from '../../accounts/identity/sessions.js';
import { isName } from '../../runtime/base/names.js';
import { withBudget } from '../../runtime/base/spending.js';
import { type FetchRight, withFetchRight } from '../../runtime/models/fetch/on-use.js';
import { withinModelPlaces } from '../../runtime/models/find/places.js';
import type { Runtime } from '../../runtime/runtime.js';
import { NOWHERE, seenProjects } from '../../runtime/tenants/seen-projects.js';
import type { Tenants } from '../../runtime/tenants/tenants.js';
import type { Endpoint, Reply, Request } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { SocketListener } from '../http/transport.js';
import type { VisitedSocket, Visitor } from '../http/visitor.js';
import { ChangedRequest, failureInWrittenWords, listenerInWrittenWords, replyInWrittenWords, type Swaps } from './disguise.js';
import type { Metering } from './metering.js';
import { type Level, type Namespaces, personalNamespace } from './namespaces.js';
import { closeWhenRefused, endWhenRefused } from './revocation.js';

/** What a key must have, beside its user's role, to run the machine. */
export const ADMIN_SCOPE = 'admin';

/** What all visitors of a daemon have in common. */
export interface Premises {
  readonly runtime: Runtime;
  readonly tenants: Tenants;
  readonly namespaces: Namespaces;
  readonly metering: Metering;
  /** The role of those who run the machine. */
  readonly adminRole: string;
}

/** Who has not signed in. */
export class AnonymousVisitor implements Visitor<Runtime> {
  readonly isAdmin = false;
  readonly isAnonymous = true;

  constructor(readonly whole: Runtime) {}

  get context(): Runtime {
    return this.whole;
  }

  sees(): boolean {
    return false;
  }

  admit({ access }: Pick<Endpoint<Runtime>, 'access'>): void {
    if (access === 'anyone') return;
    throw new Failure(
      'unauthorized',
      'Sign in first: send the token of POST /api/auth/sign-in/email, or an API key of POST /api/module/apikeys, as "Authorization: Bearer <token>"; browsers send their cookie.',
    );
  }

  serve(endpoint: Endpoint<Runtime>, request: Request): Reply | Promise<Reply> {
    return endpoint.handler(this.context, request);
  }

  admitForm(): never {
    throw new Failure('unauthorized', 'Sign in first.');
  }

  connect(): never {
    throw new Failure('unauthorized', 'Sign in first.');
  }
}

/** Who runs the machine by its own key, which is nobody's account: everything is there, and nothing is counted. */
export class Operator implements Visitor<Runtime> {
  readonly isAdmin = true;
  readonly isAnonymous = false;

  constructor(readonly whole: Runtime) {}

  get context(): Runtime {
    return this.whole;
  }

  sees(): boolean {
    return true;
  }

  admit(): void {}

  serve(endpoint: Endpoint<Runtime>, request: Request): Reply | Promise<Reply> {
    return endpoint.handler(this.context, request);
  }

  admitForm(endpoint: Endpoint<Runtime>, request: Pick<Request, 'params' | 'query'>): { readonly fileLimitBytes: number } | undefined {
    return endpoint.multipart?.admit?.(this.context, request);
  }

  connect(route: VisitedSocket<Runtime>, request: Pick<Request, 'params' | 'query'>): SocketListener {
    return route.open(this.context, request);
  }
}

/** Endpoints whose bodies say who asks. */
const ASKING: ReadonlySet<string> = new Set(['chat_completions', 'conversation_turn']);

/** How a request stands to the namespace that it names. */
interface Standing {
  readonly namespace: string;
  readonly level: Level;
}

/** Somebody with an account. Who runs the machine sees everything; others see what is theirs, and what is shared with them. */
export class User implements Visitor<Runtime> {
  readonly isAdmin: boolean;
  readonly isAnonymous = false;
  readonly ownNamespace?: string;
  readonly caller: Caller;
  readonly #premises: Premises;
  /** Begins the ids of this user's sessions where others have sessions too. */
  readonly #mark: string;
  readonly #isStill: () => Promise<boolean>;
  #context: Runtime | undefined;

  /** `isStill` tells whether the caller is, by what it showed, who it was. */
  constructor(premises: Premises, caller: Caller, isStill: () => Promise<boolean>) {
    this.#isStill = isStill;
    this.#premises = premises;
    this.caller = caller;
    this.isAdmin = caller.roles.includes(premises.adminRole);
    premises.namespaces.note(caller.userId, this.isAdmin);
    if (!this.isAdmin) this.ownNamespace = personalNamespace(caller.userId);
    this.#mark = `u${createHash('sha256').update(`session ${caller.userId}`).digest('hex').slice(0, 16)}.`;
  }

  admit({ access, tag, method }: { readonly access: Endpoint<Runtime>['access']; readonly tag?: string; readonly method?: string }): void {
    if (access === 'anyone') return;
    const { scopes } = this.caller;
    const runsMachine = access === 'admins' && scopes?.includes(ADMIN_SCOPE) === true;
    const isInScope = scopes === undefined || scopes.includes('*') || runsMachine || (tag !== undefined && scopes.includes(tag));
    if (tag !== undefined && !isInScope && !(method === 'GET' && scopes?.includes('read')))
      throw new Failure('forbidden', `This key lacks the scope ${JSON.stringify(tag)}; scopes are tags of the API, "read" and "*".`, {
        code: 'scope_required',
      });
    if (access === 'admins' && !this.isAdmin)
      throw new Failure('forbidden', `This is for those who run the machine: the role ${this.#premises.adminRole} is wanted.`, {
        code: 'role_required',
      });
    if (access === 'admins' && this.caller.via !== 'session' && !runsMachine)
      throw new Failure(
        'forbidden',
        `This is for those who run the machine: sign in, or send a key that was made with the scope "${ADMIN_SCOPE}".`,
        { code: 'session_required' },
      );
  }

  async serve(endpoint: Endpoint<Runtime>, request: Request): Promise<Reply> {
    const { metering } = this.#premises;
    await metering.admit(this.caller, endpoint);
    const stored = await metering.admitStored(this.caller, endpoint, request);
    try {
      const reply = await this.#answer(endpoint, request);
      await metering.noteStored(this.caller, endpoint, request);
      return reply;
    } finally {
      stored();
    }
  }

  async #answer(endpoint: Endpoint<Runtime>, request: Request): Promise<Reply> {
    const standing = await this.#standing(endpoint, request.params, request.body);
    const { swaps, ...changes } = this.#changes(endpoint, request, standing);
    const handle = async (): Promise<Reply> => endpoint.handler(this.context, new ChangedRequest(request, changes));
    const answer = () => this.#within(standing, handle);
    try {
      const reply = await (standing && endpoint.access === 'founders'
        ? this.#premises.namespaces.while(standing.namespace, answer)
        : answer());
      const said = replyInWrittenWords(reply, swaps);
      return 'events' in said ? { ...said, events: endWhenRefused(said.events, this.#isStill) } : said;
    } catch (error) {
      throw failureInWrittenWords(error, swaps);
    }
  }

  /** What is fetched for this user's work in a namespace. */
  #fetchRight(standing: Standing | undefined): FetchRight {
    if (this.isAdmin) return 'all';
    if (standing?.level !== 'writer') return 'nothing';
    const right = this.#premises.namespaces.fetchRight(standing.namespace);
    return right === 'all' ? 'public' : right;
  }

  /** Does this user's work with what they may have of the machine, and on their account: its files are who runs it alone's, but for its models. */
  #within<T>(standing: Standing | undefined, work: () => T): T {
    const budget = this.#premises.metering.budgetOf(this.caller.userId);
    const allowed = (): T => withBudget(budget, () => withFetchRight(this.#fetchRight(standing), work));
    const { named } = this.#premises.runtime;
    return this.isAdmin ? allowed() : withinModelPlaces(allowed, (path) => named.namesFile(path));
  }

  admitForm(
    endpoint: Endpoint<Runtime>,
    { params, query }: Pick<Request, 'params' | 'query'>,
  ): { readonly fileLimitBytes: number } | undefined {
    const { namespace } = params;
    const level = isName(namespace) ? this.#level(namespace) : undefined;
    if (level === 'none')
      try {
        return endpoint.multipart?.admit?.(this.context, { params: { ...params, namespace: NOWHERE }, query });
      } catch (error) {
        throw failureInWrittenWords(error, [[NOWHERE, namespace!]]);
      }
    if (level === 'member' && endpoint.access === 'writers') throw onlyRead(namespace!);
    return endpoint.multipart?.admit?.(this.context, { params, query });
  }

  async connect(route: VisitedSocket<Runtime>, { params, query }: Pick<Request, 'params' | 'query'>): Promise<SocketListener> {
    const { metering } = this.#premises;
    await metering.admitWork(this.caller);
    await metering.admit(this.caller, { access: route.access });
    const { namespace } = params;
    const level = isName(namespace) ? this.#level(namespace) : undefined;
    if (level === 'none') {
      const listener = route.open(this.context, { params: { ...params, namespace: NOWHERE }, query });
      return listenerInWrittenWords(listener, [[NOWHERE, namespace!]]);
    }
    const isApart = level === 'member';
    const own = isApart
      ? { query: { ...query, session_id: this.#mark + String(query.session_id || randomUUID()) }, user: this.#nameInMemory() }
      : { query };
    const open = (): SocketListener => route.open(this.context, { params, ...own });
    const standing = level && { namespace: namespace!, level };
    const listener = listenerWithin((work) => this.#within(standing, work), open);
    return closeWhenRefused(listenerInWrittenWords(listener, isApart ? [[this.#mark, '']] : []), this.#isStill);
  }

  get whole(): Runtime {
    return this.#premises.runtime;
  }

  /** Whether a namespace is there for this user. */
  sees(namespace: string): boolean {
    return this.#level(namespace) !== 'none';
  }

  /** What there is for this user: all of the runtime for who runs the machine, else what is theirs in its places. */
  get context(): Runtime {
    const { metering } = this.#premises;
    this.#context ??= metering.contextOf(this.caller, this.#part());
    return this.#context;
  }

  #part(): Runtime {
    const { runtime, tenants } = this.#premises;
    const { userId } = this.caller;
    const conversations = runtime.conversations.of(userId);
    if (this.isAdmin) return Object.assign(Object.create(runtime) as Runtime, { conversations });
    return Object.assign(Object.create(runtime) as Runtime, tenants.of(userId), {
      conversations,
      projects: seenProjects(runtime.projects, (namespace) => this.sees(namespace)),
    });
  }

  #level(namespace: string): Level {
    return this.isAdmin ? 'writer' : this.#premises.namespaces.level(this.caller, namespace);
  }

  /** To whom what a project remembers of a chat belongs, where others chat with it too. */
  #nameInMemory(given = 'me'): string {
    return this.#mark + given;
  }

  /** What the user may do in the namespace that a request names; a new one is made theirs where the endpoint makes projects. Throws `forbidden`. */
  async #standing({ access }: Endpoint<Runtime>, params: Request['params'], body: unknown): Promise<Standing | undefined> {
    if (access !== 'members' && access !== 'writers' && access !== 'founders') return undefined;
    const namespace = params.namespace ?? (body as { namespace: string }).namespace;
    // What is no name is nobody's: the handler says what is wrong with it.
    if (!isName(namespace)) return undefined;
    const level = this.#level(namespace);
    if (level === 'member' && access !== 'members') throw onlyRead(namespace);
    const { namespaces } = this.#premises;
    // A namespace that who runs the machine begins is theirs, as anybody's is; they may use those of others too.
    const isNew = access === 'founders' && (level === 'none' || (this.isAdmin && namespaces.isFree(this.caller, namespace)));
    if (!isNew) return { namespace, level };
    await namespaces.claim(this.caller, namespace);
    return { namespace, level: 'writer' };
  }

  /** What of a request is not the handler's to see: namespaces that are not there for this user, and sessions beside which others have theirs. */
  #changes(endpoint: Endpoint<Runtime>, request: Request, standing: Standing | undefined) {
    const swaps: [string, string][] = [];
    const headers: Record<string, string> = {};
    let { params, body } = request;
    if (standing?.level === 'none') {
      const { namespace } = standing;
      swaps.push([NOWHERE, namespace]);
      if (params.namespace !== undefined) params = { ...params, namespace: NOWHERE };
      else body = { ...(body as object), namespace: NOWHERE };
    }
    if (standing?.level === 'member') {
      swaps.push([this.#mark, '']);
      if (params.session_id !== undefined) params = { ...params, session_id: this.#mark + params.session_id };
      if (endpoint.tag === 'chat' && request.header('x-no-session') === undefined)
        headers['x-session-id'] = this.#mark + (request.header('x-session-id') || randomUUID());
      if (ASKING.has(endpoint.id)) body = { ...(body as object), user: this.#nameInMemory((body as { user?: string }).user) };
    }
    const active = request.header('x-active-project');
    const [namespace = ''] = active?.split('/') ?? [];
    if (active !== undefined && isName(namespace) && !this.sees(namespace)) {
      swaps.push([NOWHERE, namespace]);
      headers['x-active-project'] = `${NOWHERE}${active.slice(namespace.length)}`;
    }
    return { params, body, query: request.query, headers, swaps: swaps as Swaps };
  }
}

/** A listener whose work is done within something. */
function listenerWithin(within: <T>(work: () => T) => T, open: () => SocketListener): SocketListener {
  const listener = within(open);
  return {
    open: (peer) => within(() => listener.open(peer)),
    message: (content) => within(() => listener.message(content)),
    closed: (code) => listener.closed(code),
    stopping: () => listener.stopping?.(),
  };
}

function onlyRead(namespace: string): Failure {
  return new Failure('forbidden', `The namespace ${namespace} is shared with you to see and ask its projects, not to change them.`, {
    code: 'NamespaceReadOnly',
  });
}

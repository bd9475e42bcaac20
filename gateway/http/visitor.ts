import type { Endpoint, EndpointAccess, Reply, Request } from '../../schemas/endpoint.js';
import type { Exchange, SocketListener } from './transport.js';

/** What of a request tells who sends it. */
export interface Credentials {
  readonly method: string;
  readonly remoteAddress: string;
  header(name: string): string;
}

/** Who asks, where accounts are on: what they may call, and what there is for them. */
export interface Visitor<Context> {
  /** Runs the machine, and sees everything. */
  readonly isAdmin: boolean;
  /** Has not signed in. */
  readonly isAnonymous: boolean;
  /** The namespace that is the visitor's without asking; absent for who runs the machine. */
  readonly ownNamespace?: string;
  /** What there is for everybody together. */
  readonly whole: Context;
  /** What there is for this visitor. */
  readonly context: Context;
  /** Whether a namespace is there for this visitor. */
  sees(namespace: string): boolean;
  /** Throws `unauthorized` or `forbidden` for an endpoint that is not for this visitor, whatever the request holds. */
  admit(endpoint: { readonly access: EndpointAccess; readonly tag?: string; readonly method?: string }): void;
  /** Asks an endpoint, which finds only what is there for this visitor. */
  serve(endpoint: Endpoint<Context>, request: Request): Reply | Promise<Reply>;
  /** The same for the check of a form before it is read; see `FormBody.admit`. */
  admitForm(endpoint: Endpoint<Context>, request: Pick<Request, 'params' | 'query'>): { readonly fileLimitBytes: number } | undefined;
  /** The same for a WebSocket. */
  connect(route: VisitedSocket<Context>, request: SocketRequest): SocketListener | Promise<SocketListener>;
}

/** What a visitor needs of a WebSocket route. */
export interface VisitedSocket<Context> {
  readonly access: EndpointAccess;
  open(context: Context, request: SocketRequest): SocketListener;
}

/** The request that asks for a WebSocket, as a route sees it. */
export interface SocketRequest extends Pick<Request, 'params' | 'query'> {
  /** Who asks, by a name that no other user has, where others use the same project. */
  readonly user?: string;
}

/** Stands before the endpoints of a listener where accounts are on. */
export interface Guard<Context> {
  /** Whether a path is one of its own, such as that of the sign-in. */
  owns(path: string): boolean;
  /** Answers a request to such a path. */
  answer(exchange: Exchange): void;
  /**
   * Who sends a request; at once for those who were here a moment ago. All of the request is read before it returns. Throws, or rejects with,
   * `forbidden` for a change that a foreign page makes with a cookie, `too_many` for an address that guesses, and `unavailable`.
   */
  visitorOf(request: Credentials): Visitor<Context> | Promise<Visitor<Context>>;
}

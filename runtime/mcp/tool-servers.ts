import { Failure } from '../../schemas/errors.js';
import type { McpServer } from '../../schemas/generated/config/project.js';
import type { Context, PromptList, ResourceList, Server } from '../../schemas/generated/core/tool-servers.js';
import { log } from '../base/log.js';
import { withoutSecrets } from '../config/secrets.js';
import type { Events } from '../events/events.js';
import { recordWork, type WorkAbout } from '../events/recording.js';
import type { Outbound } from '../net/outbound.js';
import { type Connection, SAID_BY_SERVER, SESSION_GONE } from './connection.js';
import { fingerprintOf, readUnapproved, setApproved } from './consent.js';
import type { ProjectTools, ServerTool, Toolbox, ToolCallOptions, ToolProject, ToolResult } from './contract.js';
import { ToolServer } from './server.js';
import { promptText, resourceText, resultOf } from './tools.js';

/** So long a turn waits for servers, in milliseconds. */
export interface ServerWaits {
  /** For those that start. */
  readonly startMs: number;
  /** For those that were lost. */
  readonly restartMs: number;
}

const WAITS: ServerWaits = { startMs: 10_000, restartMs: 2_000 };
/** Servers that may run at a time; those that were asked for least recently end first. */
const MAX_RUNNING = 64;

/** What the tool servers are made of. */
interface ToolServersParts {
  /** Where projects come from; `Projects` is one. */
  readonly projects: {
    load(namespace: string, name: string): ToolProject;
    onErase?(listener: (namespace: string, name: string) => Promise<void>): void;
  };
  readonly outbound: Outbound;
  /** Keeps an event for each call. */
  readonly events: Events;
  /** Of this program. */
  readonly version: string;
  /** Whether every configured server may run, wherever its settings came from. */
  readonly allowsAll: boolean;
  /** Ten seconds and two unless given; tests on a busy machine wait longer. */
  readonly waits?: Partial<ServerWaits>;
}

/** A server of a project with what decides about it. */
interface Known {
  /** `namespace/name`. */
  readonly project: string;
  config: McpServer;
  readonly fingerprint: string;
  readonly server: ToolServer;
  isApproved: boolean;
}

/** The tool servers of all projects: which may run, their tools, and calls of them. */
export class ToolServers implements ProjectTools {
  readonly #parts: ToolServersParts;
  readonly #waits: ServerWaits;
  /** By project, then by server; those asked for last come last. */
  readonly #known = new Map<string, Map<string, Known>>();

  constructor(parts: ToolServersParts) {
    this.#parts = parts;
    this.#waits = { ...WAITS, ...parts.waits };
    parts.projects.onErase?.((namespace, name) => this.#forget(`${namespace}/${name}`));
  }

  async open(project: ToolProject, servers: readonly string[] | undefined, signal: AbortSignal): Promise<Toolbox> {
    // A turn that is repeated may have an earlier configuration; servers are always those of the present file.
    const present = this.#parts.projects.load(project.namespace, project.name);
    const wanted = (present.config.mcp?.servers ?? []).filter(({ name }) => servers?.includes(name) ?? true);
    if (wanted.length === 0) return { tools: [], notes: [], call: (name) => Promise.resolve(unknownTool(name)) };
    const known = await this.#sync(present);
    const chosen = wanted.flatMap(({ name }) => known.get(name) ?? []);
    await Promise.all(chosen.map((one) => this.#connection(one, signal)));
    const tools = chosen.flatMap(({ server }) => (server.view.state === 'ready' ? server.view.tools : []));
    const byName = new Map(tools.map((tool) => [tool.name, tool]));
    return {
      tools,
      notes: chosen.flatMap(notesOf),
      call: async (name, args, options) => {
        const tool = byName.get(name);
        if (!tool) return unknownTool(name);
        const one = chosen.find(({ config }) => config.name === tool.server)!;
        return this.#call(project, one, tool, args, options);
      },
    };
  }

  /** The servers of a project, in their order. Starts none. Throws what the project's `load` throws. */
  async list(namespace: string, name: string): Promise<Server[]> {
    const project = this.#parts.projects.load(namespace, name);
    const known = await this.#sync(project);
    return [...known.values()].map(shownServer);
  }

  /** Starts a server anew and waits for it a while. Throws `not_found`, and `forbidden` for one that waits for its approval. */
  async restart(namespace: string, name: string, server: string, signal: AbortSignal): Promise<Server> {
    const one = await this.#find(namespace, name, server);
    if (!one.isApproved) throw notApproved(one, `${namespace}/${name}`);
    await one.server.restart();
    await one.server.ready(this.#waits.startMs, signal);
    return shownServer(one);
  }

  /** Lets a server run, and starts it. Throws `not_found`; `conflict` where it has other settings than those of `fingerprint`. */
  async approve(namespace: string, name: string, server: string, fingerprint: string | undefined, signal: AbortSignal): Promise<Server> {
    const project = this.#parts.projects.load(namespace, name);
    const one = await this.#find(namespace, name, server);
    if (fingerprint !== undefined && fingerprint !== one.fingerprint) {
      const message = `Tool server '${server}' of project ${namespace}/${name} has other settings than those that were looked at. Look at them again, and approve them with fingerprint ${one.fingerprint}.`;
      throw new Failure('conflict', message, { code: 'ServerChanged' });
    }
    await setApproved(project.directory, one.config, true);
    one.isApproved = true;
    log('info', `tool server '${server}' was approved`, { project: `${namespace}/${name}`, fingerprint: one.fingerprint });
    await one.server.ready(this.#waits.startMs, signal);
    return shownServer(one);
  }

  /** Ends a server and lets it run no more. Throws `not_found`, and `conflict` where every server may run. */
  async revoke(namespace: string, name: string, server: string): Promise<Server> {
    const project = this.#parts.projects.load(namespace, name);
    const one = await this.#find(namespace, name, server);
    await setApproved(project.directory, one.config, false);
    log('info', `the approval of tool server '${server}' was taken back`, { project: `${namespace}/${name}` });
    if (this.#parts.allowsAll) {
      const message = `Tool server '${server}' runs all the same: this daemon was started with --allow-mcp. The approval is taken back for when it is started without.`;
      throw new Failure('conflict', message, { code: 'AllServersAllowed' });
    }
    one.isApproved = false;
    await one.server.close();
    return shownServer(one);
  }

  /** The resources of a server. Throws `not_found`, `forbidden` for one that is not approved, `unavailable` for one that is not ready. */
  async resources(namespace: string, name: string, server: string, signal: AbortSignal): Promise<ResourceList> {
    const { resources, templates } = await (await this.#ready(namespace, name, server, signal)).resources();
    return {
      resources: resources.map(({ uri, mimeType, size, ...rest }) => ({
        uri,
        ...describePart(rest, mimeType),
        ...(size === undefined ? {} : { size }),
      })),
      templates: templates.map(({ uriTemplate, mimeType, ...rest }) => ({ uri_template: uriTemplate, ...describePart(rest, mimeType) })),
    };
  }

  /** The prompts of a server. Throws as `resources`. */
  async prompts(namespace: string, name: string, server: string, signal: AbortSignal): Promise<PromptList> {
    const prompts = await (await this.#ready(namespace, name, server, signal)).prompts();
    return {
      prompts: prompts.map(({ arguments: args = [], ...rest }) => ({
        ...describePart(rest),
        arguments: args.map(({ required = false, ...one }) => ({ ...describePart(one), required })),
      })),
    };
  }

  async read(project: ToolProject, wanted: readonly Context[], signal: AbortSignal): Promise<string[]> {
    return Promise.all(
      wanted.map(async ({ server, resource, prompt, arguments: args = {} }, index) => {
        if ((resource === undefined) === (prompt === undefined)) {
          throw new Failure('invalid', `mcp_context.${index}: give either a resource or a prompt of tool server '${server}'.`);
        }
        const connection = await this.#ready(project.namespace, project.name, server, signal);
        try {
          if (resource !== undefined) return resourceText(await connection.read(resource, signal));
          return promptText(await connection.prompt(prompt ?? '', args, signal));
        } catch (error) {
          if (!(error instanceof Failure)) throw error;
          const what = resource === undefined ? `prompt '${prompt}'` : `resource ${resource}`;
          throw new Failure(error.kind, `The ${what} could not be read: tool server '${server}' ${error.message}.`, {
            code: 'ContextUnreadable',
          });
        }
      }),
    );
  }

  /** Ends all servers. */
  async close(): Promise<void> {
    await Promise.all([...this.#known.keys()].map((project) => this.#forget(project)));
  }

  async #forget(project: string): Promise<void> {
    const servers = [...(this.#known.get(project)?.values() ?? [])];
    this.#known.delete(project);
    await Promise.all(servers.map(({ server }) => server.end()));
  }

  /** The servers of a project as its file has them now; those that it has no more, or has otherwise, are ended. */
  async #sync(project: ToolProject): Promise<ReadonlyMap<string, Known>> {
    const key = `${project.namespace}/${project.name}`;
    const configs = project.config.mcp?.servers ?? [];
    const unapproved = configs.length > 0 ? await readUnapproved(project.directory) : new Set<string>();
    const before = this.#known.get(key);
    const now = new Map<string, Known>();
    for (const config of configs) {
      const present = before?.get(config.name);
      const fingerprint = present?.config === config ? present.fingerprint : fingerprintOf(config);
      const isApproved = this.#parts.allowsAll || !unapproved.has(fingerprint);
      // Turns under way hold what is known of a server, so that it stays the same thing while the server does.
      const one: Known =
        present?.fingerprint === fingerprint
          ? Object.assign(present, { config, isApproved })
          : { project: key, config, fingerprint, isApproved, server: new ToolServer(config, project.directory, this.#parts) };
      now.set(config.name, one);
      if (!isApproved && one.server.view.state !== 'off') void one.server.close();
    }
    this.#known.delete(key);
    if (now.size > 0) this.#known.set(key, now);
    for (const [name, { server }] of before ?? []) if (now.get(name)?.server !== server) void server.end();
    return now;
  }

  /** Whether another server of a project may start; ends one of the project that was asked for least recently where too many run. */
  #hasRoom(project: string): boolean {
    const running = [...this.#known.values()].flatMap((servers) =>
      [...servers.values()].filter(({ server }) => server.view.state !== 'off'),
    );
    if (running.length < MAX_RUNNING) return true;
    const oldest = running.find((one) => one.project !== project);
    void oldest?.server.close(`was ended to make room: at most ${MAX_RUNNING} tool servers run at a time`);
    return oldest !== undefined;
  }

  async #find(namespace: string, name: string, server: string): Promise<Known> {
    const known = await this.#sync(this.#parts.projects.load(namespace, name));
    const found = known.get(server);
    if (found) return found;
    const names = [...known.keys()].join(', ') || 'there are none';
    throw new Failure('not_found', `Project ${namespace}/${name} has no tool server '${server.slice(0, 200)}'. Its servers: ${names}.`, {
      code: 'ToolServerNotFound',
    });
  }

  /** A server that takes requests. */
  async #ready(namespace: string, name: string, server: string, signal: AbortSignal): Promise<Connection> {
    const one = await this.#find(namespace, name, server);
    if (!one.isApproved) throw notApproved(one, `${namespace}/${name}`);
    const connection = await this.#connection(one, signal);
    if (connection) return connection;
    const { state, reason = 'is not ready yet' } = one.server.view;
    throw new Failure('unavailable', `Tool server '${server}' of project ${namespace}/${name} ${reason} (state: ${state}).`, {
      code: 'ToolServerUnavailable',
      retryAfterS: 5,
    });
  }

  /** The connection of a server that may run, started where it is not; undefined where it is not ready soon. */
  async #connection({ project, server, isApproved }: Known, signal: AbortSignal): Promise<Connection | undefined> {
    if (!isApproved) return undefined;
    const { state } = server.view;
    if (state === 'off' && !this.#hasRoom(project)) {
      await server.close(`is not started: ${MAX_RUNNING} tool servers run already, the most at a time`);
      return undefined;
    }
    return server.ready(state === 'restarting' ? this.#waits.restartMs : this.#waits.startMs, signal);
  }

  /** Calls a tool and keeps an event of it. */
  async #call(project: ToolProject, one: Known, tool: ServerTool, args: unknown, options: ToolCallOptions): Promise<ToolResult> {
    const about: WorkAbout = {
      type: 'mcp_call',
      project,
      sessionId: options.sessionId,
      data: { server: tool.server, tool: tool.tool },
      content: { arguments: args },
    };
    const { text, failed } = await recordWork(
      this.#parts.events,
      about,
      () => this.#ask(one, tool, args, options),
      (result) => ({
        data: { failed: result.failed, characters: result.text.length },
        content: { result: result.text },
        ...(result.failed ? { error: result.reason ?? 'The tool answered that it failed.' } : {}),
      }),
    );
    return { text, failed };
  }

  async #ask(
    one: Known,
    { server, tool }: Pick<ServerTool, 'server' | 'tool'>,
    args: unknown,
    options: ToolCallOptions,
    isSecond = false,
  ): Promise<ToolResult & Refusal> {
    if (typeof args !== 'object' || args === null || Array.isArray(args))
      return refusedCall(`the arguments of ${tool} must be a JSON object`);
    const connection = await this.#connection(one, options.signal);
    const { tools, reason = one.isApproved ? 'is not ready' : 'may not run: its approval was taken back' } = one.server.view;
    if (!connection) return refusedCall(`tool server '${server}' ${reason}`);
    if (!tools.some((known) => known.tool === tool)) return refusedCall(`tool server '${server}' has no tool ${tool} any more`);
    try {
      return resultOf(await connection.call(tool, args as Record<string, unknown>, options));
    } catch (error) {
      if (options.signal.aborted) throw options.signal.reason;
      // The call was not made, and the server is greeted again by now.
      if (error instanceof Failure && error.code === SESSION_GONE && !isSecond)
        return this.#ask(one, { server, tool }, args, options, true);
      if (error instanceof Failure) {
        const refusal = refusedCall(`tool server '${server}' ${error.message}`);
        return error.code === SAID_BY_SERVER ? { text: refusal.text, failed: true } : refusal;
      }
      log('error', `a call of tool server '${server}' failed`, { cause: error });
      return refusedCall(`tool server '${server}' could not be asked`);
    }
  }
}

/** Why there is no answer of the tool itself; nothing in it comes from the arguments or the answer. */
interface Refusal {
  readonly reason?: string;
}

function refusedCall(reason: string): ToolResult & Refusal {
  return { text: `Error: ${reason}.`, failed: true, reason };
}

function unknownTool(name: string): ToolResult {
  return { text: `Error: there is no tool ${name.slice(0, 100)}.`, failed: true };
}

function notApproved({ config, fingerprint }: Known, project: string): Failure {
  const message = `Tool server '${config.name}' of project ${project} may not run yet: its settings came over HTTP. Look at them, and approve them with POST .../mcp/servers/${config.name}/approve (fingerprint ${fingerprint}), or start the daemon with --allow-mcp.`;
  return new Failure('forbidden', message, { code: 'ToolServerNotApproved' });
}

/** What a person should know of a server whose tools are not all there. */
function notesOf({ config, isApproved, server }: Known): string[] {
  const { state, reason, notes } = server.view;
  const missing = `The tools of server '${config.name}' are missing: it`;
  if (!isApproved) return [`${missing} waits for approval, which POST .../mcp/servers/${config.name}/approve gives.`];
  if (state !== 'ready') return [`${missing} ${reason ?? 'is still starting'}.`];
  return notes.map((note) => `Tool server '${config.name}': ${note}`);
}

function shownServer({ config, fingerprint, isApproved, server }: Known): Server {
  const { state, reason, sinceMs, tools, notes, protocol } = server.view;
  const { command = '', args = [], base_url: base = '' } = withoutSecrets(config);
  return {
    name: config.name,
    transport: config.transport,
    target: config.transport === 'stdio' ? [command, ...args].join(' ') : base,
    state,
    reason: isApproved ? (reason ?? null) : 'waits for approval: its settings came over HTTP',
    since: new Date(sinceMs).toISOString(),
    approved: isApproved,
    fingerprint,
    tools: tools.map(({ name, tool, description, parameters, readOnly, ask }) => ({
      name,
      tool,
      description,
      parameters: { ...parameters },
      read_only: readOnly,
      ask,
    })),
    notes: [...notes],
    protocol: protocol ?? null,
  };
}

/** What the library says of a thing, as this API says it. */
function describePart(
  { name, title, description }: { name: string; title?: string | undefined; description?: string | undefined },
  mimeType?: string,
): { name: string; description?: string; mime_type?: string } {
  const about = description ?? title;
  return { name, ...(about === undefined ? {} : { description: about }), ...(mimeType === undefined ? {} : { mime_type: mimeType }) };
}

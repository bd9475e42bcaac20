import type { ProjectConfig } from '../../schemas/generated/config/project.js';
import type { Context } from '../../schemas/generated/core/tool-servers.js';

/** A tool of an MCP server, as a model is offered it. */
export interface ServerTool {
  /** What the model calls: at most 64 of `[A-Za-z0-9_-]`, unique in its toolbox, the same in every turn while the project names the server alike. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The server's name in the project. */
  readonly server: string;
  /** The tool's name at its server. */
  readonly tool: string;
  /** Changes nothing, so that it may run beside other calls. */
  readonly readOnly: boolean;
  /** A person allows each call before it is made. */
  readonly ask: boolean;
}

/** What a call gave. Its text was written by strangers: it is shown to a model as data and never read as calls. */
export interface ToolResult {
  /** At most 64 Ki characters. */
  readonly text: string;
  /** Whether the tool, its server or the way there failed; `text` then says how. */
  readonly failed: boolean;
}

/** How a call is made. */
export interface ToolCallOptions {
  /** Cancels the call, at the server too. */
  readonly signal: AbortSignal;
  /** Told of what a long call reports of itself: how much of `total` is done, where the server says so. */
  readonly onProgress?: (progress: { readonly progress: number; readonly total?: number; readonly message?: string }) => void;
  /** The chat session that the call belongs to, for the event log. */
  readonly sessionId?: string | undefined;
}

/** The tools of one turn. It does not change: a server that changes its tools meanwhile answers a call of one that is gone with a failed result. */
export interface Toolbox {
  readonly tools: readonly ServerTool[];
  /** What is missing and why, in sentences for people: a server that failed, or that waits for an approval. */
  readonly notes: readonly string[];
  /** Calls a tool by its name in `tools`; `args` is what the model wrote, parsed. Resolves within bounded time; rejects only with the reason of `signal`. */
  call(name: string, args: unknown, options: ToolCallOptions): Promise<ToolResult>;
}

/** A project as it is on disk now; `LoadedProject` is one. */
export interface ToolProject {
  readonly namespace: string;
  readonly name: string;
  /** Absolute path of the project's directory, where its servers run. */
  readonly directory: string;
  readonly config: ProjectConfig;
}

/** The tool servers of projects. */
export interface ProjectTools {
  /**
   * The tools of the named servers; of all where `servers` is absent, of none where it is empty. Starts those that may run and do not yet, and
   * waits for them for a bounded time; one that is not ready by then is told of in the notes. Rejects only with the reason of `signal`.
   */
  open(project: ToolProject, servers: readonly string[] | undefined, signal: AbortSignal): Promise<Toolbox>;
  /**
   * Reads resources and prompts of servers, as texts of at most 64 Ki characters each, in their order. Throws `invalid` for what is neither,
   * `not_found` and `forbidden` for a server that is not there or may not run, `unavailable` for one that is not ready or has no such thing.
   */
  read(project: ToolProject, wanted: readonly Context[], signal: AbortSignal): Promise<string[]>;
}

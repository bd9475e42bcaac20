import type { Tool, ToolChoice } from '../../../schemas/generated/common.js';
import type { ModelConfig } from '../../../schemas/generated/config/project.js';
import type { CompletionRequest as ChatRequest } from '../../../schemas/generated/core/chat.js';
import { isObject } from '../../base/json.js';
import type { CompletionRequest } from '../../completions/contract.js';
import type { ProjectTools, ServerTool, Toolbox, ToolProject } from '../../mcp/contract.js';

/** What one model call of a turn says of tools. */
export type ToolFields = Pick<CompletionRequest, 'tools' | 'tool_choice'>;

/** The tools of one turn: those of the client, whose calls end it, and those of servers, which are called here. */
export class TurnTools {
  /** By the name that the model calls. */
  readonly ofServers = new Map<string, ServerTool>();
  /** What is missing and why, for people. */
  readonly notes: string[];
  readonly #ofClient: readonly Tool[];
  readonly #choice: ToolChoice | undefined;

  /** A tool of the client takes the place of a server's one of the same name; of the others come as many as `most` leaves room for. */
  constructor(ofClient: readonly Tool[], toolbox: Toolbox, choice: ToolChoice | undefined, most: number) {
    this.#ofClient = ofClient;
    this.#choice = choice;
    this.notes = [...toolbox.notes];
    const taken = new Set(ofClient.map((tool) => tool.function.name));
    const free = toolbox.tools.filter((tool) => !taken.has(tool.name));
    for (const { name, server } of toolbox.tools)
      if (taken.has(name)) this.notes.push(`The tool ${name} of server ${server} is not offered: the client has one of the same name.`);
    const room = most - ofClient.length;
    for (const tool of free.slice(0, room)) this.ofServers.set(tool.name, tool);
    if (free.length > room)
      this.notes.push(
        `Only ${room} of ${free.length} tools of servers are offered: a turn has at most ${most} tools. Name fewer in mcp_servers.`,
      );
  }

  /** Leaves the tools of servers out of this turn, and says why. */
  withdraw(why: string): void {
    this.ofServers.clear();
    this.notes.push(why);
  }

  /** Whether the client made this tool. */
  isOfClient(name: string): boolean {
    return this.#ofClient.some((tool) => tool.function.name === name);
  }

  /** Every name that may be called. */
  get names(): string[] {
    return [...this.#ofClient.map((tool) => tool.function.name), ...this.ofServers.keys()];
  }

  /** What a model call says of tools. What must be called is asked for once; the last call of a turn can only call what ends it. */
  fields(place: 'first' | 'later' | 'last'): ToolFields {
    const tools = [...[...this.ofServers.values()].map(toolDefinition), ...this.#ofClient];
    if (tools.length === 0) return {};
    if (place === 'first') return { tools, ...(this.#choice ? { tool_choice: this.#choice } : {}) };
    if (place === 'later') return { tools, tool_choice: freeChoice(this.#choice) };
    return this.#ofClient.length > 0 ? { tools: [...this.#ofClient], tool_choice: 'auto' } : { tools, tool_choice: 'none' };
  }
}

function toolDefinition({ name, description, parameters }: ServerTool): Tool {
  return { type: 'function', function: { name, description, parameters: { ...parameters } } };
}

/** The choice of a client without the demand that something is called. */
function freeChoice(choice: ToolChoice | undefined): ToolChoice {
  if (!isObject(choice) || choice.type !== 'allowed_tools' || !isObject(choice.allowed_tools)) return 'auto';
  return { ...choice, allowed_tools: { ...choice.allowed_tools, mode: 'auto' } };
}

/** What a turn asks of the tool servers. */
interface ToolWish {
  readonly model: ModelConfig;
  readonly request: ChatRequest;
  /** The turn repeats an earlier one, so that nothing must happen a second time. */
  readonly isReplay: boolean;
}

/** The tools of servers for one turn; none where there are none, or where the request wants none. Rejects only with the reason of `signal`. */
export async function openToolbox(
  tools: ProjectTools | undefined,
  project: ToolProject,
  { model, request, isReplay }: ToolWish,
  signal: AbortSignal,
): Promise<Toolbox> {
  const servers = project.config.mcp?.servers ?? [];
  if (!tools || servers.length === 0 || model.mcp_servers?.length === 0 || request.tool_choice === 'none') return emptyToolbox();
  if ((request.n ?? 1) > 1) return emptyToolbox('The tools of servers are not offered to several answers at once: leave out n, or send 1.');
  const toolbox = await tools.open(project, model.mcp_servers, signal);
  return isReplay ? withoutEffects(toolbox) : toolbox;
}

function emptyToolbox(...notes: string[]): Toolbox {
  return { tools: [], notes, call: async () => ({ text: 'Error: this tool is not there any more.', failed: true }) };
}

function withoutEffects(toolbox: Toolbox): Toolbox {
  return {
    tools: toolbox.tools.map((tool) => ({ ...tool, ask: false })),
    notes: toolbox.notes,
    call: async (name, args, options) =>
      toolbox.tools.some((tool) => tool.name === name && tool.readOnly && !tool.ask)
        ? toolbox.call(name, args, options)
        : { text: 'Error: a replay calls only tools that are read-only.', failed: true },
  };
}

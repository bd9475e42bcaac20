import type { ProjectTools, ServerTool, ToolCallOptions, ToolResult } from '../../runtime/mcp/contract.js';
import type { Context } from '../../schemas/generated/core/tool-servers.js';

/** One tool of a scripted server: what it is, and what a call of it does. */
export interface ScriptedTool extends Partial<ServerTool> {
  call?(args: Record<string, unknown>, options: ToolCallOptions): Promise<ToolResult | string> | ToolResult | string;
}

/** Tool servers that do as they are told, for turns whose order and time matter; real servers are in the tests of MCP. */
export class ScriptedTools implements ProjectTools {
  /** By name. */
  tools: Record<string, ScriptedTool> = {};
  notes: string[] = [];
  /** The calls that were made, in the order of their beginning. */
  readonly calls: { name: string; args: unknown }[] = [];
  /** Calls under way, now and at most. */
  running = 0;
  most = 0;
  /** Servers that were asked for. */
  servers: readonly string[] | undefined;

  async open(_project: unknown, servers: readonly string[] | undefined) {
    this.servers = servers;
    const { tools } = this;
    return {
      tools: Object.entries(tools).map(([name, { call: _call, ...tool }]) => ({
        name,
        description: `The tool ${name}.`,
        parameters: { type: 'object', properties: {} },
        server: 'desk',
        tool: name,
        readOnly: false,
        ask: false,
        ...tool,
      })),
      notes: this.notes,
      call: async (name: string, args: unknown, options: ToolCallOptions): Promise<ToolResult> => {
        this.calls.push({ name, args });
        this.running += 1;
        this.most = Math.max(this.most, this.running);
        try {
          const result = (await tools[name]!.call?.(args as Record<string, unknown>, options)) ?? `${name} is done`;
          options.signal.throwIfAborted();
          return typeof result === 'string' ? { text: result, failed: false } : result;
        } finally {
          this.running -= 1;
        }
      },
    };
  }

  async read(_project: unknown, wanted: readonly Context[]): Promise<string[]> {
    return wanted.map(({ server, resource, prompt }) => `${resource ?? prompt} of ${server}`);
  }
}

import type { ModelConfig } from '../../../schemas/generated/config/project.js';
import type { CompletionRequest as ChatRequest } from '../../../schemas/generated/core/chat.js';
import type { ProjectTools, Toolbox, ToolProject } from '../../mcp/toolbox.js';

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

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Events } from '../../../runtime/events/events.js';
import type { Toolbox, ToolProject, ToolResult } from '../../../runtime/mcp/contract.js';
import { ToolServers } from '../../../runtime/mcp/tool-servers.js';
import { Outbound } from '../../../runtime/net/outbound.js';
import { openStore } from '../../../runtime/store/store.js';
import type { McpServer } from '../../../schemas/generated/config/project.js';

/** How long a server may take to start, in milliseconds, however busy the machine is. */
const PATIENCE_MS = 60_000;

/** The scripted server in one of its modes, as a project names it. */
export const scripted = (mode: string, more: Partial<McpServer> = {}): McpServer => ({
  name: mode,
  transport: 'stdio',
  command: process.execPath,
  args: [fileURLToPath(new URL('./scripted-server.js', import.meta.url)), mode],
  ...more,
});

/** The tool servers of one project whose configuration a test changes. */
export interface ToolStage {
  readonly servers: ToolServers;
  readonly events: Events;
  readonly directory: string;
  /** The project with these servers from now on. */
  configure(...servers: McpServer[]): ToolProject;
  /** A turn's tools. */
  open(project: ToolProject, names?: readonly string[]): Promise<Toolbox>;
  close(): Promise<void>;
}

/** Opens the tool servers over a data directory of their own. */
export async function openToolStage({ allowsAll = false }: { allowsAll?: boolean } = {}): Promise<ToolStage> {
  const directory = mkdtempSync(join(tmpdir(), 'quern-tools-'));
  const store = await openStore(directory);
  const outbound = new Outbound();
  let project: ToolProject;
  const configure = (...servers: McpServer[]): ToolProject => {
    const config = {
      version: 'v1',
      name: 'p',
      namespace: 'ns',
      runtime: { models: [] },
      mcp: { servers },
    } as unknown as ToolProject['config'];
    project = { namespace: 'ns', name: 'p', directory, config };
    return project;
  };
  configure();
  const projects = { load: () => project };
  const events = new Events({ store, projects });
  const waits = { startMs: PATIENCE_MS, restartMs: PATIENCE_MS };
  const servers = new ToolServers({ projects, outbound, events, version: '0', allowsAll, waits });
  return {
    servers,
    events,
    directory,
    configure,
    open: (given, names) => servers.open(given, names, new AbortController().signal),
    close: async () => {
      await servers.close();
      await outbound.close();
      await events.close();
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Calls a tool by its name at the server. */
export function call(toolbox: Toolbox, tool: string, args: object = {}, signal = new AbortController().signal): Promise<ToolResult> {
  return toolbox.call(toolbox.tools.find((one) => one.tool === tool)?.name ?? tool, args, { signal });
}

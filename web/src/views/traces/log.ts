/** The two logs: that of the chosen project, and that of the server, which those who run the machine read. */
import { project } from '../../lib/project.svelte';
import { href, route } from '../../lib/route.svelte';

/** Which log the address names. */
export const isServerLog = (): boolean => route.place.query.get('log') === 'server';

/** The path of the log's endpoints. */
export const logPath = (): string => (isServerLog() ? '/v1/event_logs' : `${project.path}/event_logs`);

/** The address of events of this log; of the whole log without ids. */
export const eventHref = (...ids: string[]): string => href('traces', ...ids) + (isServerLog() ? '?log=server' : '');

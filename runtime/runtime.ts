import type { Chat } from './chat/chat.js';
import type { Completions } from './completions/completions.js';
import type { Models } from './models/models.js';
import type { Projects } from './projects/projects.js';

/** What the gateway's handlers work on; made by `openRuntime`. */
export interface Runtime {
  readonly version: string;
  readonly dataDir: string;
  readonly projects: Projects;
  readonly chat: Chat;
  readonly completions: Completions;
  readonly models: Models;
  /** Ends all work and closes engines, then the store. */
  close(): Promise<void>;
}

/** The views, in the order of the rail: name in the address, title, icon, and how its code is loaded when it is opened. A new view is a folder and a line here. */
import type { Component } from 'svelte';
import type { IconName } from './ui/Icon.svelte';

export interface View {
  readonly name: string;
  readonly title: string;
  readonly icon: IconName;
  /** Whether the view works on a project, and has nothing to show without one. */
  readonly needsProject?: true;
  readonly load: () => Promise<{ default: Component }>;
}

export const VIEWS: readonly View[] = [
  { name: 'chat', title: 'Chat', icon: 'chat', needsProject: true, load: () => import('./views/chat/Chat.svelte') },
  { name: 'projects', title: 'Projects', icon: 'projects', load: () => import('./views/projects/Projects.svelte') },
  { name: 'data', title: 'Data', icon: 'data', needsProject: true, load: () => import('./views/data/Data.svelte') },
  { name: 'lab', title: 'Retrieval lab', icon: 'lab', needsProject: true, load: () => import('./views/lab/Lab.svelte') },
  { name: 'models', title: 'Models', icon: 'models', load: () => import('./views/models/Models.svelte') },
  { name: 'traces', title: 'Traces', icon: 'traces', needsProject: true, load: () => import('./views/traces/Traces.svelte') },
  { name: 'learning', title: 'Machine learning', icon: 'learning', load: () => import('./views/learning/Learning.svelte') },
  { name: 'speech', title: 'Speech', icon: 'speech', needsProject: true, load: () => import('./views/speech/Speech.svelte') },
  { name: 'system', title: 'System', icon: 'system', load: () => import('./views/system/System.svelte') },
  { name: 'api', title: 'API', icon: 'api', load: () => import('./views/api/Api.svelte') },
];

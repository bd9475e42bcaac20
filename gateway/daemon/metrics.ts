import { readFileSync } from 'node:fs';
import { countedMetrics, metricLine } from '../../runtime/base/metrics.js';
import { type GpuMemory, ownGpuMemory } from '../../runtime/machine/gpu-memory.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type Endpoint, endpoint } from '../../schemas/endpoint.js';
import { volume } from '../core/system.js';

const TYPE = 'text/plain; version=0.0.4; charset=utf-8';
/** An engine that is busy with a long step is left out of an answer rather than waited for. */
const STATS_MS = 500;
const PAGE_BYTES = 4096;

type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

/** A metric that says how things are now; samples with the same labels, as of a model that is loaded twice, are added up. */
function gauge(name: string, help: string, given: readonly Sample[]): string[] {
  if (given.length === 0) return [];
  const samples = new Map<string, Sample>();
  for (const [labels, value] of given) {
    const key = JSON.stringify(labels);
    samples.set(key, [labels, value + (samples.get(key)?.[1] ?? 0)]);
  }
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} gauge`,
    ...[...samples.values()].map(([labels, value]) => metricLine(name, labels, value)),
  ];
}

/** The memory of a process that is in RAM; 0 where it cannot be told. */
function residentBytes(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES;
  } catch {
    return 0;
  }
}

/** What the schedulers of the loaded models say of themselves. */
async function engineSamples({ models }: Runtime): Promise<Record<string, Sample[]>> {
  const samples: Record<string, Sample[]> = { active: [], queued: [], kvUsed: [], adapterBytes: [] };
  await Promise.all(
    models.loaded().map(async ({ name, stats }) => {
      const late = new Promise<Record<string, number>>((resolve) => setTimeout(() => resolve({}), STATS_MS).unref());
      const told: Record<string, number> = await Promise.race([stats?.() ?? {}, late]).catch(() => ({}));
      for (const [figure, list] of Object.entries(samples)) if (told[figure] !== undefined) list.push([{ model: name }, told[figure]]);
    }),
  );
  return samples;
}

/** The memory of graphics cards; nothing without one. */
export function gpuLines(cards: readonly GpuMemory[]): string[] {
  const samples = (of: (card: GpuMemory) => number): Sample[] => cards.map((card) => [{ gpu: card.gpu, name: card.name }, of(card)]);
  return [
    ...gauge(
      'quern_gpu_memory_used_bytes',
      'Memory in use on a graphics card, by whatever process.',
      samples(({ usedBytes }) => usedBytes),
    ),
    ...gauge(
      'quern_gpu_memory_total_bytes',
      'Memory of a graphics card.',
      samples(({ totalBytes }) => totalBytes),
    ),
  ];
}

/** All metrics of the daemon in Prometheus' text format. */
async function metricsOf(runtime: Runtime): Promise<string> {
  const loaded = runtime.models.loaded();
  const [engines, disk, gpus] = await Promise.all([
    engineSamples(runtime),
    volume(runtime.dataDir).catch(() => null),
    ownGpuMemory().catch(() => []),
  ]);
  const { user, system } = process.cpuUsage();
  const lines = [
    ...gauge('quern_info', 'The version of the daemon.', [[{ version: runtime.version, transport: runtime.transport }, 1]]),
    ...gauge('quern_uptime_seconds', 'Since the process was started.', [[{}, process.uptime()]]),
    ...gauge('quern_cpu_seconds', 'Processor time of the daemon, without its engine processes.', [[{}, (user + system) / 1e6]]),
    ...gauge('quern_memory_bytes', 'Memory in RAM of the daemon and of each engine process.', [
      [{ process: 'daemon' }, process.memoryUsage.rss()],
      ...loaded.flatMap<Sample>(({ name, type, pid }) => (pid === undefined ? [] : [[{ process: `${type} ${name}` }, residentBytes(pid)]])),
    ]),
    ...gpuLines(gpus),
    ...gauge(
      'quern_model_loaded',
      'Models in memory, with the devices that run them.',
      loaded.map(({ name, type, status }) => [{ model: name, type, devices: status.devices.used.join(',') || 'cpu' }, 1]),
    ),
    ...gauge('quern_slots_active', 'Generations that run now, by model.', engines.active ?? []),
    ...gauge('quern_slots_queued', 'Generations that wait for a place, by model.', engines.queued ?? []),
    ...gauge('quern_kv_tokens', 'Tokens that the KV cache of a model holds.', engines.kvUsed ?? []),
    ...gauge('quern_adapter_bytes', 'LoRA adapters that a model has in memory, by the size of their files.', engines.adapterBytes ?? []),
    ...gauge('quern_tasks_open', 'Background tasks that have not ended.', [[{}, runtime.tasks.openCount]]),
    ...gauge('quern_disk_free_bytes', 'Room on the disk of the data directory.', disk ? [[{}, disk.free_bytes]] : []),
    ...countedMetrics(),
  ];
  return `${lines.join('\n')}\n`;
}

/** `GET /metrics`, for Prometheus. */
export const metricsEndpoint: Endpoint<Runtime> = endpoint<Runtime>({
  method: 'GET',
  path: '/metrics',
  id: 'metrics',
  access: 'admins',
  summary: 'What the daemon counts and measures, in the text format of Prometheus',
  tag: 'system',
  hidden: true,
  handler: async (runtime) => ({ bytes: await metricsOf(runtime), contentType: TYPE }),
});

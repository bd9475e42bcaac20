import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import type { ProviderFacts } from './contract.js';

/** What ONNX Runtime says of one execution provider. */
interface Offered {
  readonly name: string;
  readonly bundled: boolean;
}

/** Providers that `auto` tries before the CPU. WebGPU is not among them: it is experimental, and its name is listed on machines without any GPU. */
const PREFERRED = ['cuda', 'coreml', 'dml'];
/** Every name that some build of ONNX Runtime for Node knows; the runtime silently drops all others. */
const KNOWN = ['cpu', 'cuda', 'tensorrt', 'coreml', 'dml', 'webgpu', 'qnn'];

/** Providers whose library comes apart from the package, by the file beside the package's own. */
const APART: Readonly<Record<string, string>> = {
  cuda: 'libonnxruntime_providers_cuda.so',
  tensorrt: 'libonnxruntime_providers_tensorrt.so',
};

/** Providers that a system can have at all, beside the CPU; of others only ONNX Runtime itself knows. */
const OF_SYSTEM: Readonly<Record<string, readonly string[]>> = { linux: ['cuda'] };

/**
 * The facts of an encoder that runs on the CPU because that was asked for, or because this system has no accelerator that `auto` would take: so much
 * can be said without loading ONNX Runtime. Undefined where it has to be asked.
 */
export function cpuFacts(requested: string): ProviderFacts | undefined {
  const facts = { requested, available: ['cpu'], used: ['cpu'] };
  if (requested === 'cpu') return { ...facts, why: null };
  const possible = requested === 'auto' ? OF_SYSTEM[process.platform] : undefined;
  if (!possible || possible.some((name) => isInstalled({ name, bundled: false }))) return undefined;
  return { ...facts, why: `no accelerator can be used (${possible.map((name) => `${name} is not installed`).join('; ')})` };
}

function isInstalled({ name, bundled }: Offered): boolean {
  if (bundled) return true;
  const file = APART[name];
  if (file === undefined) return false;
  const own = dirname(createRequire(import.meta.url).resolve('onnxruntime-node/package.json'));
  return existsSync(join(own, 'bin/napi-v6', process.platform, process.arch, file));
}

/**
 * Opens a session on the provider that was asked for, or on the CPU with the reason why not. `open` is called with the names to use, the
 * best first. Throws what `open` throws for the CPU, and `bad_request` for a name that no build knows.
 */
export async function chooseProviders<Session>(
  offered: readonly Offered[],
  requested: string,
  open: (names: string[]) => Promise<Session>,
): Promise<{ session: Session; facts: ProviderFacts }> {
  if (requested !== 'auto' && !KNOWN.includes(requested))
    throw new Failure('bad_request', `device is "${requested}"; give auto, ${KNOWN.slice(0, -1).join(', ')} or ${KNOWN.at(-1)}.`);
  const available = offered.filter(isInstalled).map((one) => one.name);
  const reasons: string[] = [];
  const wanted = requested === 'auto' ? PREFERRED : requested === 'cpu' ? [] : [requested];
  for (const name of wanted) {
    if (!available.includes(name)) {
      reasons.push(offered.some((one) => one.name === name) ? `${name} is not installed` : `${name} is not in this machine's build`);
      continue;
    }
    try {
      const session = await open([name, 'cpu']);
      return { session, facts: { requested, available, used: [name, 'cpu'], why: null } };
    } catch (error) {
      reasons.push(`${name} failed: ${(error as Error).message}`);
    }
  }
  const session = await open(['cpu']);
  const why = requested === 'auto' ? `no accelerator can be used (${reasons.join('; ')})` : reasons.join('; ') || null;
  return { session, facts: { requested, available, used: ['cpu'], why } };
}

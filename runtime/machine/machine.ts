import { humanSize } from '../base/files.js';
import type { MachineReader } from './reader.js';

/** A device that can run models beside the processor. */
export interface Accelerator {
  readonly kind: 'GPU' | 'NPU';
  readonly name: string;
  /** Its own memory in bytes; null where it shares the machine's, or does not tell. */
  readonly memoryBytes: number | null;
  /** Whether Quern can use it as the machine is now. */
  readonly isUsable: boolean;
  /** What to do so that it is used, or why it cannot be. */
  readonly advice: string;
}

/** What a machine has that matters to models. */
export interface Machine {
  readonly processor: string;
  readonly cores: number;
  /** Instruction sets that our code or its libraries use. */
  readonly features: readonly string[];
  /** What processes may use: the machine's memory, or less where a container limits it. */
  readonly memoryBytes: number;
  readonly accelerators: readonly Accelerator[];
}

/** What a machine has, from what its kernel and drivers tell. */
export function machineOf(reader: MachineReader): Machine {
  const apple: Accelerator[] =
    reader.platform === 'darwin' && reader.arch === 'arm64'
      ? [
          {
            kind: 'GPU',
            name: 'Apple GPU',
            memoryBytes: null,
            isUsable: true,
            advice: 'used through Metal; it shares the memory of the machine',
          },
        ]
      : [];
  return {
    ...processorOf(reader),
    cores: reader.cores,
    memoryBytes: memoryOf(reader),
    accelerators: [...apple, ...cards(reader), ...npus(reader)],
  };
}

/** Flags of /proc/cpuinfo (x86 and ARM) by the names that people know. */
const FEATURES: Readonly<Record<string, string>> = {
  avx2: 'AVX2',
  avx512f: 'AVX-512',
  avx512_vnni: 'VNNI',
  avx_vnni: 'AVX-VNNI',
  amx_int8: 'AMX',
  asimd: 'NEON',
  asimddp: 'dot product',
  i8mm: 'int8 matrices',
  sve: 'SVE',
};
const NVIDIA = '0x10de';
const AMD = '0x1002';
const AMD_NPU = '0x1022';
const INTEL = '0x8086';
const MEBIBYTE = 1024 ** 2;
const VULKAN_LIBRARIES = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib64', '/usr/lib'];

function processorOf(reader: MachineReader): Pick<Machine, 'processor' | 'features'> {
  if (reader.platform === 'darwin') {
    const name = reader.output('sysctl', '-n', 'machdep.cpu.brand_string').trim();
    return { processor: name || reader.arch, features: reader.arch === 'arm64' ? ['NEON'] : [] };
  }
  const info = reader.text('/proc/cpuinfo');
  const line = (name: RegExp): string => name.exec(info)?.[1]?.trim() ?? '';
  const flags = new Set(line(/^(?:flags|Features)\s*:(.*)$/m).split(/\s+/));
  const board = reader.text('/proc/device-tree/model').replaceAll('\0', '').trim();
  return {
    processor: line(/^model name\s*:(.*)$/m) || board || reader.arch,
    features: Object.entries(FEATURES).flatMap(([flag, name]) => (flags.has(flag) ? [name] : [])),
  };
}

function memoryOf(reader: MachineReader): number {
  // Version 2 of control groups, then version 1; "max" or an absurd number mean no limit.
  const limits = ['/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes'].map((path) =>
    Number(reader.text(path).trim() || Number.NaN),
  );
  return Math.min(reader.memoryBytes, ...limits.filter((limit) => Number.isFinite(limit) && limit > 0));
}

/** Cards that the kernel shows as display devices. */
function cards(reader: MachineReader): Accelerator[] {
  const found: Accelerator[] = [];
  const known = nvidia(reader);
  for (const card of reader.names('/sys/class/drm').filter((name) => /^card\d+$/.test(name))) {
    const device = `/sys/class/drm/${card}/device`;
    const vendor = reader.text(`${device}/vendor`).trim();
    const memoryBytes = Number(reader.text(`${device}/mem_info_vram_total`).trim()) || null;
    if (vendor === AMD) found.push({ kind: 'GPU', name: 'AMD GPU', memoryBytes, ...vulkanAdvice(reader, 'mesa-vulkan-drivers') });
    if (vendor === INTEL) found.push({ kind: 'GPU', name: 'Intel GPU', memoryBytes: null, ...vulkanAdvice(reader, 'mesa-vulkan-drivers') });
    if (vendor === NVIDIA && known.length === 0)
      found.push({
        kind: 'GPU',
        name: 'NVIDIA GPU',
        memoryBytes: null,
        isUsable: false,
        advice: 'its driver does not answer: install it, so that nvidia-smi lists the card',
      });
  }
  return [...known, ...found];
}

function nvidia(reader: MachineReader): Accelerator[] {
  const told = reader.output('nvidia-smi', '--query-gpu=name,memory.total', '--format=csv,noheader,nounits').trim();
  return told
    .split('\n')
    .filter(Boolean)
    .map((row) => {
      const [name = 'NVIDIA GPU', mebibytes = ''] = row.split(',').map((cell) => cell.trim());
      const isUsable = hasVulkan(reader);
      const advice = isUsable
        ? 'used through Vulkan; a libggml-cuda.so of the same llama.cpp in QUERN_BACKENDS_DIR is faster'
        : 'install the Vulkan loader (Debian: apt install libvulkan1), or name a folder with libggml-cuda.so in QUERN_BACKENDS_DIR';
      return { kind: 'GPU', name, memoryBytes: Number(mebibytes) * MEBIBYTE || null, isUsable, advice };
    });
}

const hasVulkan = (reader: MachineReader): boolean =>
  VULKAN_LIBRARIES.some((folder) => reader.names(folder).some((name) => name.startsWith('libvulkan.so')));

function vulkanAdvice(reader: MachineReader, driver: string): Pick<Accelerator, 'isUsable' | 'advice'> {
  return hasVulkan(reader)
    ? { isUsable: true, advice: 'used through Vulkan' }
    : { isUsable: false, advice: `install the Vulkan loader and driver (Debian: apt install libvulkan1 ${driver})` };
}

const NPU_ADVICE = {
  isUsable: false,
  advice: 'GGUF models use it where a folder in QUERN_BACKENDS_DIR has a ggml plug-in for it; the ONNX Runtime that is installed has none',
} as const;

function npus(reader: MachineReader): Accelerator[] {
  const found: Accelerator[] = [];
  for (const name of reader.names('/sys/class/accel')) {
    const vendor = reader.text(`/sys/class/accel/${name}/device/vendor`).trim();
    const maker = vendor === INTEL ? 'Intel NPU' : vendor === AMD_NPU ? 'AMD XDNA NPU' : 'NPU';
    found.push({ kind: 'NPU', name: maker, memoryBytes: null, ...NPU_ADVICE });
  }
  const soc = reader.text('/proc/device-tree/compatible');
  if (soc.includes('rockchip,rk3588') || reader.names('/sys/module').includes('rknpu'))
    found.push({ kind: 'NPU', name: 'Rockchip NPU', memoryBytes: null, ...NPU_ADVICE });
  if (reader.names('/dev').some((name) => /^hailo\d/.test(name)))
    found.push({ kind: 'NPU', name: 'Hailo NPU', memoryBytes: null, ...NPU_ADVICE });
  if (/qcom,(?:qcs|sc|sm)\d/.test(soc)) found.push({ kind: 'NPU', name: 'Qualcomm Hexagon NPU', memoryBytes: null, ...NPU_ADVICE });
  return found;
}

/** One thing that was looked at. */
export interface Finding {
  readonly about: string;
  readonly state: 'good' | 'note' | 'bad';
  readonly found: string;
  /** What to do; empty where nothing is to be done. */
  readonly advice: string;
}

const LITTLE_MEMORY = 4 * 1024 ** 3;

/** What the machine is like: processor, memory and devices, each with what to do. */
export function machineFindings(machine: Machine): Finding[] {
  const { processor, cores, features, memoryBytes, accelerators } = machine;
  const hasVectors = features.some((name) => ['AVX2', 'NEON'].includes(name));
  const devices = accelerators.map<Finding>(({ kind, name, memoryBytes: own, isUsable, advice }) => ({
    about: kind === 'GPU' ? 'graphics' : 'neural unit',
    state: isUsable ? 'good' : 'note',
    found: `${name}${own === null ? '' : `, ${humanSize(own)}`}`,
    advice,
  }));
  return [
    {
      about: 'processor',
      state: hasVectors ? 'good' : 'note',
      found: `${processor}, ${cores} cores${features.length > 0 ? ` (${features.join(', ')})` : ''}`,
      advice: hasVectors ? '' : 'it has no AVX2 or NEON, so models and searches are several times slower',
    },
    {
      about: 'memory',
      state: memoryBytes < LITTLE_MEMORY ? 'note' : 'good',
      found: humanSize(memoryBytes),
      advice: memoryBytes < LITTLE_MEMORY ? 'choose models below 1 GB: "quern pull" lists them' : '',
    },
    ...(devices.length > 0
      ? devices
      : [{ about: 'graphics', state: 'good', found: 'none; models run on the processor', advice: '' } as const]),
  ];
}

/** The part of JavaScript's own WebAssembly that is used here; Node's types leave it out. */
declare const WebAssembly: {
  compile(bytes: Uint8Array): Promise<WasmModule>;
  instantiate(module: WasmModule, imports: object): Promise<{ readonly exports: unknown }>;
};

/** A compiled program. */
export interface WasmModule {
  readonly [Symbol.toStringTag]: string;
}

/** Compiles a program. */
export const compileWasm = (bytes: Uint8Array): Promise<WasmModule> => WebAssembly.compile(bytes);

/** Numbers of errors and kinds in WASI's preview 1. */
const OK = 0;
const BAD_FD = 8;
const NO_ENTRY = 44;
const NO_SEEK = 70;
const [CHARACTERS, FOLDER, FILE] = [2, 3, 4];
const ROOT_FD = 3;
const FILE_FD = 4;
/** A file that grows beyond this is refused: an hour of speech of 16 kHz. */
const FILE_LIMIT = 128 * 1024 * 1024;
const FILE_TOO_BIG = 22;

interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

class Exit extends Error {
  constructor(readonly code: number) {
    super(`exited with ${code}`);
  }
}

/** What a run left. */
interface WasiRun {
  readonly code: number;
  /** What it printed. */
  readonly printed: string;
  /** The one file that it wrote. */
  readonly file: Buffer;
}

/**
 * Runs a WASI program that prints and writes one file, whatever its name, both in memory: nothing of this machine is within its reach. Throws where it
 * traps.
 */
export async function runInMemory(module: WasmModule, args: readonly string[]): Promise<WasiRun> {
  const world = new MemoryWorld(args);
  const { exports } = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: world.imports });
  const { memory, _start: start } = exports as { memory: WasmMemory; _start(): void };
  world.memory = memory;
  try {
    start();
    return world.ended(0);
  } catch (error) {
    if (error instanceof Exit) return world.ended(error.code);
    throw error;
  }
}

class MemoryWorld {
  memory!: WasmMemory;
  readonly #args: readonly Buffer[];
  readonly #printed: Buffer[] = [];
  #file = Buffer.alloc(64 * 1024);
  #length = 0;
  #at = 0;

  constructor(args: readonly string[]) {
    this.#args = args.map((text) => Buffer.from(`${text}\0`));
  }

  ended(code: number): WasiRun {
    return { code, printed: Buffer.concat(this.#printed).toString('utf8'), file: this.#file.subarray(0, this.#length) };
  }

  readonly imports: Record<string, (...given: never[]) => number> = {
    args_sizes_get: (count: number, size: number) => {
      this.#put(count, this.#args.length);
      return this.#put(
        size,
        this.#args.reduce((sum, one) => sum + one.length, 0),
      );
    },
    args_get: (pointers: number, texts: number) => {
      let at = texts;
      for (const [index, one] of this.#args.entries()) {
        this.#put(pointers + 4 * index, at);
        this.#bytes(at, one.length).set(one);
        at += one.length;
      }
      return OK;
    },
    clock_time_get: (_clock: number, _precision: bigint, result: number) => {
      this.#view.setBigUint64(result, BigInt(Date.now()) * 1_000_000n, true);
      return OK;
    },
    fd_close: () => OK,
    fd_fdstat_set_flags: () => OK,
    fd_fdstat_get: (fd: number, result: number) => {
      if (fd > FILE_FD) return BAD_FD;
      this.#bytes(result, 24).fill(0);
      this.#view.setUint8(result, fd < ROOT_FD ? CHARACTERS : fd === ROOT_FD ? FOLDER : FILE);
      // All rights; nobody else is here.
      this.#view.setBigUint64(result + 8, 0xffff_ffffn, true);
      this.#view.setBigUint64(result + 16, 0xffff_ffffn, true);
      return OK;
    },
    fd_prestat_get: (fd: number, result: number) => {
      if (fd !== ROOT_FD) return BAD_FD;
      this.#put(result, 0);
      return this.#put(result + 4, 1);
    },
    fd_prestat_dir_name: (_fd: number, path: number) => {
      this.#bytes(path, 1).set(Buffer.from('/'));
      return OK;
    },
    fd_read: (_fd: number, _vectors: number, _count: number, read: number) => this.#put(read, 0),
    fd_seek: (fd: number, offset: bigint, whence: number, result: number) => {
      if (fd !== FILE_FD) return NO_SEEK;
      this.#at = Number(offset) + [0, this.#at, this.#length][whence]!;
      this.#view.setBigUint64(result, BigInt(this.#at), true);
      return OK;
    },
    fd_write: (fd: number, vectors: number, count: number, written: number) => {
      let total = 0;
      for (let index = 0; index < count; index += 1) {
        const at = this.#view.getUint32(vectors + 8 * index, true);
        const bytes = this.#bytes(at, this.#view.getUint32(vectors + 8 * index + 4, true));
        if (fd !== FILE_FD) this.#printed.push(Buffer.from(bytes));
        else if (!this.#append(bytes)) return FILE_TOO_BIG;
        total += bytes.length;
      }
      return this.#put(written, total);
    },
    path_open: (_fd, _flags, _path, _length, create: number, _rights: bigint, _inherited: bigint, _fdFlags: number, result: number) => {
      // 1: make the file where there is none. What is only read is not there.
      return (create & 1) === 0 ? NO_ENTRY : this.#put(result, FILE_FD);
    },
    proc_exit: (code: number) => {
      throw new Exit(code);
    },
  };

  get #view(): DataView {
    return new DataView(this.memory.buffer);
  }

  #bytes(at: number, length: number): Uint8Array {
    return new Uint8Array(this.memory.buffer, at, length);
  }

  #put(at: number, value: number): number {
    this.#view.setUint32(at, value, true);
    return OK;
  }

  #append(bytes: Uint8Array): boolean {
    const end = this.#at + bytes.length;
    if (end > FILE_LIMIT) return false;
    if (end > this.#file.length) {
      const larger = Buffer.alloc(Math.max(end, 2 * this.#file.length));
      larger.set(this.#file);
      this.#file = larger;
    }
    this.#file.set(bytes, this.#at);
    this.#at = end;
    this.#length = Math.max(this.#length, end);
    return true;
  }
}

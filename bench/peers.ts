import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Lacking } from './lacking.js';
import { ROOT } from './measure.js';

/** Where peers are fetched and built: outside the repository. */
export const PEERS = process.env.QUERN_BENCH_PEERS ?? join(tmpdir(), 'quern-bench-peers');

const BINARY = join(PEERS, 'build/bin/llama-server');

function must(command: string, args: string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  if (error) throw new Lacking(command, `Debian: apt install ${command}`);
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed`);
}

/** The path of a `llama-server`: the one that `LLAMA_SERVER` names, else the one that `benchPeers` built. Throws where neither is here. */
export function llamaServer(): string {
  const path = process.env.LLAMA_SERVER ?? BINARY;
  if (!existsSync(path))
    throw new Lacking('llama-server', 'npm run bench -- peers builds it, once, in some 10 minutes on two cores; LLAMA_SERVER names one');
  return path;
}

/**
 * Builds `llama-server` from the very llama.cpp source that comes with node-llama-cpp, with its default optimised settings for this machine,
 * unless it is there.
 */
export async function benchPeers(): Promise<void> {
  if (existsSync(BINARY)) return;
  process.stderr.write(`bench: building llama-server in ${PEERS}, once\n`);
  mkdirSync(join(PEERS, 'source'), { recursive: true });
  const bare = join(PEERS, 'llama.git');
  if (!existsSync(bare))
    must('git', ['clone', '--quiet', '--bare', join(ROOT, 'node_modules/node-llama-cpp/llama/gitRelease.bundle'), bare]);
  must('sh', ['-c', `git -C '${bare}' archive HEAD | tar -x -C '${join(PEERS, 'source')}'`]);
  const settings = ['BUILD_TYPE=Release', 'LLAMA_CURL=OFF', 'LLAMA_OPENSSL=OFF', 'LLAMA_BUILD_TESTS=OFF', 'LLAMA_BUILD_EXAMPLES=OFF'];
  const flags = settings.map((one) => (one.startsWith('LLAMA') ? `-D${one}` : `-DCMAKE_${one}`));
  must('cmake', ['-S', join(PEERS, 'source'), '-B', join(PEERS, 'build'), ...flags]);
  must('cmake', ['--build', join(PEERS, 'build'), '-j2', '--target', 'llama-server']);
}

/** The Python that `QUERN_BENCH_PYTHON` names, for peers that are written in it. Throws where it names none. */
export function benchPython(): string {
  const program = process.env.QUERN_BENCH_PYTHON;
  if (program) return program;
  const remedy = 'python3 -m venv V && V/bin/pip install scikit-learn pyod polars, then set QUERN_BENCH_PYTHON=V/bin/python';
  throw new Lacking('a Python with scikit-learn, pyod and polars', remedy);
}

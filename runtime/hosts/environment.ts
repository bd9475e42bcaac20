import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';

/** Variables that an engine may need: the system's, and those of libraries and devices. Keys and tokens of the daemon stay out (threat T33). */
const PASSED =
  /^(PATH|HOME|USER|LANG|LC_\w+|TZ|TMP|TEMP|TMPDIR|SystemRoot|windir|NODE_V8_COVERAGE|LOG_LEVEL|LD_LIBRARY_PATH|DYLD_\w+|(CUDA|NVIDIA|VK|GGML|LLAMA|HIP|ROCR|HSA|ORT|OMP|QUERN)_\w+)$/;
const SECRET = /KEY|TOKEN|SECRET|PASSWORD/i;
/** How much likelier than the daemon the kernel ends a host when memory is short; 0 to 1000. */
const OOM_SCORE = '500';

/** The environment of a host process. */
export function hostEnvironment(own: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(own).filter(([name]) => PASSED.test(name) && !SECRET.test(name)));
}

/** On Linux: no core dumps, and the kernel's memory killer prefers the host to the daemon. What cannot be set is left. */
export function confine(pid: number): void {
  if (process.platform !== 'linux') return;
  writeFile(`/proc/${pid}/oom_score_adj`, OOM_SCORE).catch(() => {});
  execFile('prlimit', ['--pid', String(pid), '--core=0:0'], () => {});
}

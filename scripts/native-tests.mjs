// Builds the GoogleTest suite under AddressSanitizer and UndefinedBehaviorSanitizer, and runs it. Says why when it cannot.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'build/native-tests');

const cmake = (args, stdio = 'pipe') => spawnSync('cmake', args, { cwd: root, encoding: 'utf8', stdio });

const configured = cmake(['-S', root, '-B', folder, '-DQUERN_TESTS=ON', '-DQUERN_SANITIZE=ON', '-DCMAKE_BUILD_TYPE=Debug']);
if (configured.error) {
  process.stderr.write('quern: C++ tests were SKIPPED: cmake is not installed.\n');
} else if (configured.status !== 0 && /GTest/.test(configured.stderr)) {
  process.stderr.write(
    'quern: C++ tests were SKIPPED: GoogleTest is not installed (Debian: apt install libgtest-dev, Fedora: dnf install gtest-devel, macOS: brew install googletest).\n',
  );
} else if (configured.status !== 0) {
  process.stderr.write(configured.stderr);
  process.exit(1);
} else {
  process.stderr.write('quern: building the C++ tests ...\n');
  const built = cmake(['--build', folder, '--parallel', '2']);
  if (built.status !== 0) {
    process.stderr.write(built.stdout + built.stderr);
    process.exit(1);
  }
  const { status } = spawnSync(join(folder, 'quern_native_tests'), ['--gtest_brief=1'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  process.exit(status === 0 ? 0 : 1);
}

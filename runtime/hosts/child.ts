/** Entry of a host process: loads the engine module named by the first argument and answers calls over the IPC channel. */
import { Failure } from '../../schemas/errors.js';
import { type FromHost, type HostedEngine, type OpenEngine, type ToHost, toWire } from './protocol.js';

/** Exit code after an exception that nobody caught. */
const EXIT_UNCAUGHT = 70;

const running = new Map<number, AbortController>();

function send(message: FromHost): void {
  // The channel closes when the daemon dies; 'disconnect' below ends this process then.
  if (process.connected) process.send!(message);
}

async function answer(engine: HostedEngine, id: number, method: string, body: unknown): Promise<void> {
  const control = new AbortController();
  running.set(id, control);
  try {
    const value = await engine.call(method, body, control.signal);
    send({ type: 'result', id, value });
  } catch (error) {
    if (!(error instanceof Failure)) process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    send({ type: 'failed', id, failure: toWire(error) });
  } finally {
    running.delete(id);
  }
}

async function shutDown(engine: HostedEngine): Promise<void> {
  for (const control of running.values()) control.abort();
  try {
    await engine.close();
  } finally {
    process.exit(0);
  }
}

// The daemon's death closes the channel. Nothing here is worth an orderly end then, and native threads could delay one.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
// Ctrl-C and service managers signal the whole process group; the daemon drains its requests first and then ends its hosts.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
process.on('uncaughtException', (error) => {
  process.stderr.write(`${error.stack ?? error.message}\n`);
  process.exit(EXIT_UNCAUGHT);
});

const { openEngine } = (await import(process.argv[2]!)) as { openEngine: OpenEngine };
const engine = openEngine((value) => send({ type: 'event', value }));

process.on('message', (message: ToHost) => {
  if (message.type === 'call') void answer(engine, message.id, message.method, message.body);
  else if (message.type === 'cancel') running.get(message.id)?.abort();
  else if (message.type === 'ping') send({ type: 'pong' });
  else void shutDown(engine);
});
send({ type: 'ready' });

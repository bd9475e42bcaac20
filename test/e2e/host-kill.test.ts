import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DaemonUnderTest, startDaemon } from '../support/daemon.js';
import { childrenOf } from '../support/processes.js';
import { until } from '../support/until.js';

/** Committed number of kills, below what opens the circuit of a host; `KILLS=30` runs the long loop, most of which is waiting. */
const KILLS = Number(process.env.KILLS ?? 2);
const SESSIONS = 4;
const PROJECT = '/v1/projects/default/quickstart/chat';

interface Message {
  readonly role: string;
  readonly content: string;
}

/** One chat that remembers what was acknowledged to it. */
class Talk {
  readonly acknowledged: [question: string, answer: string][] = [];
  refused = 0;
  readonly #daemon: DaemonUnderTest;
  readonly #name: string;

  constructor(daemon: DaemonUnderTest, name: string) {
    this.#daemon = daemon;
    this.#name = name;
  }

  /** Asks until the signal; every other question is streamed. */
  async run(signal: AbortSignal): Promise<void> {
    for (let turn = 0; !signal.aborted; turn += 1) {
      const question = `${this.#name} asks number ${turn}`;
      const answer = await this.#ask(question, turn % 2 === 1);
      if (answer !== undefined) this.acknowledged.push([question, answer]);
      else {
        this.refused += 1;
        await sleep(50);
      }
    }
  }

  async history(daemon = this.#daemon): Promise<Message[]> {
    const response = await fetch(`${daemon.core}${PROJECT}/sessions/${this.#name}/history`);
    return ((await response.json()) as { messages: Message[] }).messages;
  }

  /** The answer, or undefined where the host went down under it. */
  async #ask(content: string, stream: boolean): Promise<string | undefined> {
    const response = await fetch(`${this.#daemon.core}${PROJECT}/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-session-id': this.#name },
      body: JSON.stringify({ messages: [{ role: 'user', content }], max_tokens: 24, stream }),
    });
    const text = await response.text();
    if (!stream) {
      assert.ok(response.status === 200 || response.status >= 500, `${response.status}: ${text}`);
      return response.status === 200 ? (JSON.parse(text) as { choices: { message: Message }[] }).choices[0]!.message.content : undefined;
    }
    const chunks = text
      .split('\n')
      .filter((line) => line.startsWith('data: {'))
      .map((line) => JSON.parse(line.slice(6)) as { choices?: { delta?: { content?: string }; finish_reason?: string | null }[] });
    // A stream that breaks off ends without a reason; one that could not begin holds an apology, which history lacks.
    const whole = chunks.some(({ choices }) => choices?.[0]?.finish_reason);
    const said = chunks.map(({ choices }) => choices?.[0]?.delta?.content ?? '').join('');
    return whole && !/sorry|could not|try again/i.test(said) ? said : undefined;
  }
}

/** Acknowledged turns must be in the history, each once and in order; turns that broke may be there or not. */
function check(name: string, history: readonly Message[], acknowledged: readonly (readonly [string, string])[]): void {
  let at = 0;
  for (const [question, answer] of acknowledged) {
    const found = history.findIndex(({ role, content }, index) => index >= at && role === 'user' && content === question);
    assert.ok(found >= 0, `${name}: "${question}" was acknowledged and is not in the history, after message ${at}`);
    assert.deepEqual([history[found + 1]?.role, history[found + 1]?.content], ['assistant', answer], question);
    at = found + 2;
  }
  const questions = history.filter(({ role }) => role === 'user').map(({ content }) => content);
  assert.equal(new Set(questions).size, questions.length, `${name}: a turn is there twice`);
}

it(`${SESSIONS} chats keep every acknowledged turn through ${KILLS} kills of their engine host`, { timeout: 900_000 }, async () => {
  const daemon = await startDaemon();
  const talks = Array.from({ length: SESSIONS }, (_, index) => new Talk(daemon, `talk-${index}`));
  const stop = new AbortController();
  let heir: DaemonUnderTest | undefined;
  const running = talks.map((talk) => talk.run(stop.signal));
  const failed = Promise.all(running);
  const total = (): number => talks.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0);
  try {
    let killed = 0;
    for (let round = 0; round < KILLS; round += 1) {
      const before = total();
      await Promise.race([failed, until(() => total() > before, `an answer before kill ${round}`)]);
      await sleep(Math.random() * 150);
      // The answer may be one of before the last kill.
      let hosts: number[] = [];
      const isUp = (): boolean => {
        hosts = childrenOf(daemon.child.pid!, 'hosts/child');
        return hosts.length > 0;
      };
      await Promise.race([failed, until(isUp, `a host before kill ${round}`)]);
      for (const host of hosts) process.kill(host, 'SIGKILL');
      killed += hosts.length;
    }
    const before = total();
    await Promise.race([failed, until(() => total() > before, 'an answer after the last kill')]);
    stop.abort();
    await failed;
    assert.ok(killed >= KILLS, `${killed} hosts were killed in ${KILLS} rounds`);
    assert.equal(daemon.child.exitCode, null, 'the daemon went down with a host');
    for (const [index, talk] of talks.entries()) check(`talk-${index}`, await talk.history(), talk.acknowledged);
    await daemon.end('SIGKILL');
    heir = await startDaemon({ dataDir: daemon.dataDir });
    for (const [index, talk] of talks.entries()) check(`talk-${index} on disk`, await talk.history(heir), talk.acknowledged);
  } finally {
    stop.abort();
    await daemon.end('SIGKILL');
    await heir?.end('SIGKILL');
  }
});

import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Message } from '../../schemas/generated/core/conversations.js';
import { ranProgram } from '../support/command-line.js';
import { PUPPET_PROJECT } from '../support/conversation-stage.js';
import { type DaemonUnderTest, emptyDataDir, startDaemon } from '../support/daemon.js';
import { writeProject } from '../support/dataset-stage.js';
import { decidedPuppetPath } from '../support/models/cache.js';

const LIST = '/v1/projects/ns/p/conversations';
const BEGINNING = 'round step 1. round step 2. ';
/** What came of an answer is stored a second later, and while it is, more comes; a busy disk takes its time. */
const LATER_MS = 4_000;

/** The text of an answer in the events that came of it; the last may have come in part. */
const contentOf = (stream: string): string =>
  [...stream.matchAll(/^data: (\{.*"delta".*\})\n/gm)]
    .map(([, json]) => (JSON.parse(json!) as { choices: { delta: { content?: string } }[] }).choices[0]?.delta.content ?? '')
    .join('');

describe('conversations of a daemon that is killed', () => {
  const dataDir = emptyDataDir();
  const backups = emptyDataDir();
  let daemon: DaemonUnderTest;
  before(async () => {
    mkdirSync(join(dataDir, 'models'), { recursive: true });
    copyFileSync(decidedPuppetPath(), join(dataDir, 'models', 'puppet.gguf'));
    writeProject(dataDir, 'ns', 'p', PUPPET_PROJECT);
    daemon = await startDaemon({ dataDir });
  });
  after(async () => {
    await daemon?.end('SIGKILL');
    rmSync(backups, { recursive: true, force: true });
  });

  const post = (path: string, body: object): Promise<Response> =>
    fetch(daemon.core + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  const messagesOf = async (id: string): Promise<Message[]> => {
    const answer = (await (await fetch(`${daemon.core}${LIST}/${id}`)).json()) as { messages: Message[] };
    return answer.messages;
  };

  it('have the question, and what was written of the answer up to a second before', async () => {
    const { conversation } = (await (await post(LIST, {})).json()) as { conversation: { id: string } };
    const { id } = conversation;
    const whole = await (await post(`${LIST}/${id}/turns`, { message: { content: 'hello' } })).text();
    assert.match(whole, /\[DONE\]/);
    const reply = await post(`${LIST}/${id}/turns`, { message: { content: 'endless' }, settings: { max_tokens: -1 } });
    const reader = reply.body!.pipeThrough(new TextDecoderStream()).getReader();
    let seen = '';
    const read = async (): Promise<void> => {
      const { value, done } = await reader.read();
      assert.ok(!done, seen);
      seen += value;
    };
    // The question is acknowledged by the first event.
    while (!seen.includes('event: turn')) await read();
    while (!contentOf(seen).includes(BEGINNING)) await read();
    for (const begunMs = performance.now(); performance.now() - begunMs < LATER_MS; ) await read();
    await daemon.end('SIGKILL');
    await reader.cancel().catch(() => undefined);
    daemon = await startDaemon({ dataDir });
    const messages = await messagesOf(id);
    assert.deepEqual(
      messages.map(({ role, status }) => [role, status]),
      [
        ['user', 'done'],
        ['assistant', 'done'],
        ['user', 'done'],
        ['assistant', 'cut'],
      ],
    );
    const [, , question, cut] = messages;
    assert.equal(question!.content, 'endless');
    assert.ok(cut!.content.startsWith(BEGINNING), cut!.content);
    // It goes on, and another turn is free to begin.
    const more = await (await post(`${LIST}/${id}/turns`, { continue: cut!.id, settings: { max_tokens: 4 } })).text();
    assert.match(more, /event: message/);
  });

  it('are part of a backup', async () => {
    const { conversation } = (await (await post(LIST, { title: 'Kept' })).json()) as { conversation: { id: string } };
    await (await post(`${LIST}/${conversation.id}/turns`, { message: { content: 'hello' } })).text();
    const before = await messagesOf(conversation.id);
    const made = await ranProgram(['backup', backups, '--data-dir', dataDir]);
    assert.equal(made.code, 0, made.stderr);
    await fetch(`${daemon.core}${LIST}/${conversation.id}`, { method: 'DELETE' });
    await daemon.end();
    const back = await ranProgram(['restore', backups, '--data-dir', dataDir]);
    assert.equal(back.code, 0, back.stderr);
    daemon = await startDaemon({ dataDir });
    assert.deepEqual(await messagesOf(conversation.id), before);
  });
});

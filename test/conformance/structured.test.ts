import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Chat } from '../../runtime/chat/chat.js';
import { Completions } from '../../runtime/completions/completions.js';
import { Models } from '../../runtime/models/residency/models.js';
import type { LoadedProject } from '../../runtime/projects/projects.js';
import { providerOf } from '../../runtime/providers/index.js';
import { createUniversalProvider } from '../../runtime/providers/universal.js';
import { openStore, type Store } from '../../runtime/store/store.js';
import type { CompletionRequest } from '../../schemas/generated/core/chat.js';
import { emptyDataDir } from '../support/daemon.js';
import { puppetPath } from '../support/models/cache.js';

const SCHEMA = `from enum import Enum
from pydantic import BaseModel, Field

class Mood(str, Enum):
    GOOD = "good"
    BAD = "bad"

class Item(BaseModel):
    count: int = Field(ge=3, le=5)

class Answer(BaseModel):
    mood: Mood
    items: list[Item] = Field(min_length=2, max_length=2)
    sure: bool
`;

describe('answers by the schema of a project, on the real engine', () => {
  const directory = emptyDataDir();
  const models = new Models({ dataDir: directory });
  let store: Store;
  let chat: Chat;

  before(async () => {
    mkdirSync(join(directory, 'schemas'));
    writeFileSync(join(directory, 'schemas', 'answer.py'), SCHEMA);
    store = await openStore(directory);
    const config = {
      schema: 'schemas/answer.py::Answer',
      runtime: { models: [{ name: 'm', provider: 'universal', model: puppetPath() }] },
    };
    const project = { namespace: 'ns', name: 'p', directory, config } as unknown as LoadedProject;
    const providers = { universal: createUniversalProvider(new Completions({ models })) } as never;
    chat = new Chat({ projects: { load: () => project }, providers, providerOf, store });
  });
  after(async () => {
    await chat.close();
    await models.close();
    await store.close();
  });

  it('have its form although the model would say something else', async () => {
    const request: CompletionRequest = { messages: [{ role: 'user', content: 'hello' }], temperature: 0, max_tokens: 200 };
    const turn = await chat.complete({ namespace: 'ns', project: 'p', request, stateful: false }, new AbortController().signal);
    const body = (await turn.body()) as { choices: { message: { content: string } }[] };
    const answer = JSON.parse(body.choices[0]!.message.content);
    assert.deepEqual(Object.keys(answer), ['mood', 'items', 'sure']);
    assert.ok(['good', 'bad'].includes(answer.mood) && typeof answer.sure === 'boolean');
    assert.equal(answer.items.length, 2);
    for (const { count } of answer.items) assert.ok([3, 4, 5].includes(count), String(count));
  });
});

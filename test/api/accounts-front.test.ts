import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openFrontStage } from '../support/accounts/front-stage.js';
import { openPeople, stage } from '../support/accounts/people.js';
import { holdsKeys } from './accounts-front/keys.js';
import { guardsTheMachine } from './accounts-front/machine.js';
import { guardsModels } from './accounts-front/models.js';
import { guardsNamespaces } from './accounts-front/namespaces.js';
import { signsIn } from './accounts-front/sign-in.js';

describe('accounts in front of the daemon', () => {
  before(openPeople);
  after(() => stage?.close());
  guardsTheMachine();
  guardsModels();
  signsIn();
  guardsNamespaces();
  holdsKeys();
});

describe('a module file of accounts in front of the daemon', () => {
  const opening = async (config: object, environment: object = {}): Promise<void> =>
    (await openFrontStage(config, { environment })).close();

  it('may not take a path of the daemon for its page', async () => {
    await assert.rejects(opening({ admin: { path: '/v1' } }), /admin\.path: \/v1 is a path of the daemon/);
  });

  it('wants a strong secret and an address, as a daemon is no development server', async () => {
    const strict = { NODE_ENV: undefined };
    await assert.rejects(opening({}, { ...strict, AUTH_SECRET: undefined }), /AUTH_SECRET/);
    await assert.rejects(opening({}, { ...strict, AUTH_SECRET: 'short' }), /AUTH_SECRET/);
    await assert.rejects(opening({}, { ...strict, AUTH_URL: undefined }), /AUTH_URL/);
  });
});

import { DATABASE_SERVERS } from '../support/accounts/database-servers.js';
import { billingSuite } from './suites/billing.js';
import { credentialsSuite } from './suites/credentials.js';
import { directorySuite } from './suites/directory.js';
import { metersSuite } from './suites/meters.js';
import { nudgesSuite } from './suites/nudges.js';
import { peopleSuite } from './suites/people.js';

// One process, so that each server starts once.
for (const server of DATABASE_SERVERS)
  for (const suite of [peopleSuite, metersSuite, credentialsSuite, billingSuite, nudgesSuite, directorySuite]) suite(server);

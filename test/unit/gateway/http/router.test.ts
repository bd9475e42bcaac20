import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Router } from '../../../../gateway/http/router.js';

const router = new Router<string>();
for (const [method, path] of [
  ['GET', '/models'],
  ['POST', '/models/download'],
  ['DELETE', '/models/{id+}'],
  ['GET', '/models/{id+}/forms'],
  ['GET', '/models/{id+}/forms/all'],
] as const)
  router.add(method, path, `${method} ${path}`);

describe('a route with a parameter that takes slashes', () => {
  const cases: [string, string, string, string | undefined][] = [
    ['DELETE', '/models/org/repo', 'DELETE /models/{id+}', 'org/repo'],
    ['GET', '/models/org/repo/forms', 'GET /models/{id+}/forms', 'org/repo'],
    ['GET', '/models/org%2Frepo/forms/', 'GET /models/{id+}/forms', 'org/repo'],
    ['GET', '/models/org/repo/forms/all', 'GET /models/{id+}/forms/all', 'org/repo'],
    ['GET', '/models/forms/forms', 'GET /models/{id+}/forms', 'forms'],
    ['DELETE', '/models/forms', 'DELETE /models/{id+}', 'forms'],
    ['DELETE', '/models/org/forms/repo', 'DELETE /models/{id+}', 'org/forms/repo'],
    ['POST', '/models/download', 'POST /models/download', undefined],
  ];
  for (const [method, path, route, id] of cases) {
    it(`finds ${method} ${path}`, () => {
      const match = router.match(path);
      assert.deepEqual([match?.methods.get(method), match?.params.id], [route, id]);
    });
  }

  for (const path of ['/models/org/../forms', '/models/org/%2e%2e/repo', '/models//forms', '/models/a%00b/forms']) {
    it(`finds nothing for ${path}`, () => assert.equal(router.match(path), undefined));
  }

  it('refuses the same route twice', () => assert.throws(() => router.add('GET', '/models/{id+}/forms', 'again'), /two routes/));
});

import type { Settings } from '../config/settings.js';
import { BASE_STYLE, escapeHtml, page } from '../http/pages.js';
import { PASSWORD_LENGTH } from './passwords.js';

const REFUSAL_STYLE = `${BASE_STYLE}
main { max-width: 32rem; padding-top: 10vh; }
`;
const BEGIN_ANEW = 'This sign-in was begun in another browser, or too long ago. Begin it anew.';
const UNPROVED = 'The provider did not prove who you are. Begin the sign-in anew; if it fails again, sign in another way.';
/** What each of better-auth's names for a refusal means to the person. */
const MEANINGS: Readonly<Record<string, string>> = {
  state_not_found: BEGIN_ANEW,
  state_mismatch: BEGIN_ANEW,
  state_invalid: BEGIN_ANEW,
  no_code: BEGIN_ANEW,
  invalid_callback_request: BEGIN_ANEW,
  invalid_code: UNPROVED,
  unable_to_get_user_info: UNPROVED,
  issuer_mismatch: UNPROVED,
  nonce_binding_missing: UNPROVED,
  access_denied: 'You have refused this sign-in at the provider.',
  account_not_linked:
    'Somebody has an account with this address, and the address is not proved. Sign in the way you did before, and confirm the address first.',
  email_not_found: 'The provider told no address of yours. Allow it there, or sign in another way.',
  email_does_not_match: 'The provider knows another address of yours than the one of this account.',
  account_already_linked_to_different_user: 'Another account here belongs to that person at the provider.',
  banned: 'This account is barred.',
  invalid_token: 'This link is not valid, or not any more. Ask for a new one.',
  token_expired: 'This link is not valid any more. Ask for a new one.',
  user_not_found: 'There is no such account any more.',
  internal_server_error: 'Something went wrong here. Try again in a moment.',
};

/** The page on which a browser ends whose sign-in, or whose link from a mail, was refused. Status 400. */
export function refusalPage({ app }: Settings, error: string): Response {
  const meaning = MEANINGS[error.toLowerCase()] ?? 'This sign-in was refused. Begin it anew, or sign in another way.';
  const name = escapeHtml(app.name);
  const body = `<main>
<h1>You are not signed in to ${name}</h1>
<p>${escapeHtml(meaning)}</p>
<p><a href="${escapeHtml(app.domain)}">Go to ${name}</a></p>
</main>`;
  const { body: html, headers } = page(`You are not signed in to ${app.name}`, body, REFUSAL_STYLE);
  return new Response(html, { status: 400, headers });
}

/** Where the link of a mail leads that was asked for without an address to come back to, below the path of the library. */
export const NEW_PASSWORD_PATH = '/new-password';

const STYLE = `${BASE_STYLE}
main { max-width: 28rem; padding-top: 10vh; }
form { display: grid; gap: 0.75rem; }
`;

/** The page on which a person sets a new password by the token in its address. `base`: the path of the library. */
export function newPasswordPage({ app }: Settings, base: string): Response {
  const name = escapeHtml(app.name);
  const body = `<main>
<h1>Set a new password for ${name}</h1>
<form id="form">
<label for="password">New password, of at least ${PASSWORD_LENGTH.least} characters</label>
<input id="password" type="password" autocomplete="new-password" minlength="${PASSWORD_LENGTH.least}" maxlength="${PASSWORD_LENGTH.most}" required>
<button class="main" type="submit">Set the password</button>
<p role="status" id="status"></p>
</form>
<p><a href="${escapeHtml(app.domain)}">Go to ${name}</a></p>
</main>`;
  return page(`Set a new password for ${app.name}`, body, STYLE, `${base}${NEW_PASSWORD_PATH}/script.js`);
}

/** The script of the page. */
export function newPasswordScript(base: string): Response {
  return new Response(
    `const form = document.getElementById('form');
const status = document.getElementById('status');
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  status.className = '';
  status.textContent = 'One moment ...';
  try {
    const answer = await fetch('${base}/reset-password', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: new URLSearchParams(location.search).get('token'), newPassword: document.getElementById('password').value }),
    });
    const body = await answer.json();
    status.className = answer.ok ? '' : 'bad';
    status.textContent = answer.ok ? 'The new password is set. Sign in with it.' : body.message;
    if (answer.ok) form.querySelector('button').disabled = true;
  } catch {
    status.className = 'bad';
    status.textContent = 'The server cannot be reached. Try again.';
  }
});
`,
    { headers: { 'content-type': 'text/javascript; charset=utf-8', 'x-content-type-options': 'nosniff', 'cache-control': 'no-cache' } },
  );
}

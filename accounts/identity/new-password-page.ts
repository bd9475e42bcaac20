import type { Settings } from '../config/settings.js';
import { BASE_STYLE, escaped, page } from '../http/pages.js';
import { PASSWORD_LENGTH } from './passwords.js';

/** Where the link of a mail leads that was asked for without an address to come back to, below the path of the library. */
export const NEW_PASSWORD_PATH = '/new-password';

const STYLE = `${BASE_STYLE}
main { max-width: 28rem; padding-top: 10vh; }
form { display: grid; gap: 0.75rem; }
`;

/** The page on which a person sets a new password by the token in its address. `base`: the path of the library. */
export function newPasswordPage({ app }: Settings, base: string): Response {
  const name = escaped(app.name);
  const body = `<main>
<h1>Set a new password for ${name}</h1>
<form id="form">
<label for="password">New password, of at least ${PASSWORD_LENGTH.least} characters</label>
<input id="password" type="password" autocomplete="new-password" minlength="${PASSWORD_LENGTH.least}" maxlength="${PASSWORD_LENGTH.most}" required>
<button class="main" type="submit">Set the password</button>
<p role="status" id="status"></p>
</form>
<p><a href="${escaped(app.domain)}">Go to ${name}</a></p>
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

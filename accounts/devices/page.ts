import type { Settings } from '../config/settings.js';
import { BASE_STYLE, escapeHtml, page } from '../http/pages.js';
import type { Caller } from '../identity/sessions.js';

/** Where the script of the page is. */
export const DEVICE_SCRIPT_PATH = '/api/module/device/script.js';

const STYLE = `${BASE_STYLE}
main { max-width: 28rem; padding-top: 10vh; }
form { display: grid; gap: 0.75rem; }
#code { font: 1.5rem/1.2 ui-monospace, monospace; letter-spacing: 0.15em; text-align: center; text-transform: uppercase; }
.choice { display: flex; gap: 0.75rem; }
`;

/** The page on which a user lets a device in. */
export function devicePage({ app }: Settings, caller: Caller | undefined, userCode: string): Response {
  const name = escapeHtml(app.name);
  const body = caller
    ? `<main>
<h1>Sign a device in to ${name}</h1>
<p>You are <strong>${escapeHtml(caller.email)}</strong>. Compare the code with the one on your device. Approve it only if you began this sign-in yourself.</p>
<form id="form">
<label for="code">Code on the device</label>
<input id="code" name="code" autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="12" required value="${escapeHtml(userCode.slice(0, 12))}">
<div class="choice"><button class="main" type="submit" value="approve">Approve</button><button type="submit" value="deny">Deny</button></div>
<p role="status" id="status"></p>
</form>
</main>`
    : `<main>
<h1>Sign a device in to ${name}</h1>
<p>Sign in to ${name} in this browser first, then open this page again.</p>
<p><a href="${escapeHtml(app.domain)}">Go to ${name}</a></p>
</main>`;
  return page(`Sign a device in to ${app.name}`, body, STYLE, caller ? DEVICE_SCRIPT_PATH : undefined);
}

/** The script of the page. */
export function deviceScript(): Response {
  return new Response(
    `const form = document.getElementById('form');
const status = document.getElementById('status');
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const action = event.submitter?.value ?? 'approve';
  status.className = '';
  status.textContent = 'One moment ...';
  try {
    const answer = await fetch('/api/module/device/verify', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ userCode: document.getElementById('code').value, action }),
    });
    const body = await answer.json();
    status.className = answer.ok ? '' : 'bad';
    status.textContent = !answer.ok ? body.message : action === 'approve' ? 'The device is signed in. You can close this page.' : 'The device is refused.';
    if (answer.ok) for (const button of form.querySelectorAll('button')) button.disabled = true;
  } catch {
    status.className = 'bad';
    status.textContent = 'The server cannot be reached. Try again.';
  }
});
`,
    { headers: { 'content-type': 'text/javascript; charset=utf-8', 'x-content-type-options': 'nosniff', 'cache-control': 'no-cache' } },
  );
}

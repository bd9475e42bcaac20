import type { Settings } from '../config/settings.js';
import { BASE_STYLE, escaped, page } from '../http/pages.js';

const STYLE = `${BASE_STYLE}
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
  const name = escaped(app.name);
  const body = `<main>
<h1>You are not signed in to ${name}</h1>
<p>${escaped(meaning)}</p>
<p><a href="${escaped(app.domain)}">Go to ${name}</a></p>
</main>`;
  const { body: html, headers } = page(`You are not signed in to ${app.name}`, body, STYLE);
  return new Response(html, { status: 400, headers });
}

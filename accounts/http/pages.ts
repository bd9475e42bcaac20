import { createHash } from 'node:crypto';

/** Text inside a page. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/**
 * A page that needs nothing from elsewhere: its style stands inside, its script is another path of ours, and the browser is told to take
 * nothing else.
 */
export function page(title: string, body: string, style: string, script?: string): Response {
  const hash = createHash('sha256').update(style).digest('base64');
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${hash}'`,
    "script-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${style}</style>
</head>
<body>
${body}
${script === undefined ? '' : `<script src="${script}" defer></script>`}
</body>
</html>
`;
  return new Response(html, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    },
  });
}

/** Colours and spacing that every page shares; dark where the person prefers it. */
export const BASE_STYLE = `
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --line: #c8ccd2; --accent: #0b5fad; --soft: #f3f5f7; --bad: #a4161a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --paper: #16181c; --line: #4a4f57; --accent: #7db8f0; --soft: #20242a; --bad: #ff9a9a; } }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem; }
input, select, button { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: 6px; padding: 0.45rem 0.7rem; }
button { cursor: pointer; background: var(--soft); }
button:disabled { opacity: 0.5; cursor: default; }
button.main { background: var(--accent); border-color: var(--accent); color: var(--paper); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
[role="status"] { min-height: 1.5em; }
.bad { color: var(--bad); }
`;

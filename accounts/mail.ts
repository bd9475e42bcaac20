import type { MailSettings } from './config/settings.js';

/** One mail, in plain text. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** How long a service may take for a mail. */
const SERVICE_MS = 30_000;

/** Sends a mail; rejects when it did not leave. */
export type SendMail = (mail: Mail) => Promise<void>;

/** How this server sends mails: to the console where nobody has set a transport, so that links can be followed in development. */
export async function mailer(settings: MailSettings, print: (line: string) => void): Promise<SendMail> {
  const { transport: kind } = settings;
  if (kind === 'resend' || kind === 'postmark') return (mail) => sendByService(SERVICES[kind], settings, mail);
  if (kind === 'console' || !settings.smtp) return async ({ to, subject, text }) => print(`mail to ${to}: ${subject}\n${text}`);
  const transport = await transportOf(settings.smtp);
  return async ({ to, subject, text }) => {
    await transport.sendMail({ from: settings.from, to, subject, text });
  };
}

/** A service that takes mails over HTTP. */
interface MailService {
  readonly url: string;
  headers(apiKey: string): Record<string, string>;
  body(from: string, mail: Mail): object;
}

const SERVICES: Readonly<Record<'resend' | 'postmark', MailService>> = {
  resend: {
    url: 'https://api.resend.com/emails',
    headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
    body: (from, { to, subject, text }) => ({ from, to: [to], subject, text }),
  },
  postmark: {
    url: 'https://api.postmarkapp.com/email',
    headers: (apiKey) => ({ 'x-postmark-server-token': apiKey, accept: 'application/json' }),
    body: (from, { to, subject, text }) => ({ From: from, To: to, Subject: subject, TextBody: text, MessageStream: 'outbound' }),
  },
};

async function sendByService(service: MailService, { from, apiKey = '' }: MailSettings, mail: Mail): Promise<void> {
  const response = await fetch(service.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...service.headers(apiKey) },
    body: JSON.stringify(service.body(from, mail)),
    redirect: 'error',
    signal: AbortSignal.timeout(SERVICE_MS),
  });
  if (!response.ok) throw new Error(`${new URL(service.url).host} answered ${response.status}: ${(await response.text()).slice(0, 300)}`);
}

/** Connects to the mail server and signs in there; rejects with what it said when it does not take mails. */
export async function greetMailServer({ smtp }: MailSettings): Promise<void> {
  const transport = await transportOf(smtp!);
  try {
    await transport.verify();
  } finally {
    transport.close();
  }
}

async function transportOf({ host, port, secure = port === 465, user, password }: NonNullable<MailSettings['smtp']>) {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    host,
    port,
    secure,
    ...(user === undefined ? {} : { auth: { user, pass: password ?? '' } }),
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 30_000,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

import type { MailSettings } from '../config/settings.js';

/** One mail, in plain text. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Sends a mail; rejects when it did not leave. */
export type SendMail = (mail: Mail) => Promise<void>;

/** How this server sends mails: to the console where nobody has set a transport, so that links can be followed in development. */
export async function mailer(settings: MailSettings, print: (line: string) => void): Promise<SendMail> {
  if (settings.transport === 'console' || !settings.smtp)
    return async ({ to, subject, text }) => print(`mail to ${to}: ${subject}\n${text}`);
  const transport = await transportOf(settings.smtp);
  return async ({ to, subject, text }) => {
    await transport.sendMail({ from: settings.from, to, subject, text });
  };
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

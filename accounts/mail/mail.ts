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
  const { createTransport } = await import('nodemailer');
  const { host, port, secure = port === 465, user, password } = settings.smtp;
  const transport = createTransport({
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
  return async ({ to, subject, text }) => {
    await transport.sendMail({ from: settings.from, to, subject, text });
  };
}

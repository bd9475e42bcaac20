import { randomBytes } from 'node:crypto';
import { Failure } from '../../schemas/errors.js';
import { type Command, withAccounts, wordAt } from './command.js';

/** People, their plans and roles, and their keys. */
export const peopleCommands: readonly Command[] = [
  {
    name: 'seed',
    summary: 'make the admin and the test users of the file',
    run: (options) =>
      withAccounts(options, async (accounts) => {
        const made = await accounts.seedTestUsers();
        return { lines: [made.length === 0 ? 'All users of the file are there.' : `Made ${made.join(', ')}.`], result: { made } };
      }),
  },
  {
    name: 'users list',
    summary: 'list users; a word after it is looked for',
    run: (options) =>
      withAccounts(options, async ({ directory }) => {
        const { users, total } = await directory.users({ search: options.words[0] ?? '', limit: 100 });
        return {
          lines: [
            ...users.map(({ email, plan, roles, banned }) => `${email}  ${plan}  ${roles.join(',')}${banned ? '  banned' : ''}`),
            `${total} users`,
          ],
          result: { users, total },
        };
      }),
  },
  {
    name: 'users create',
    summary: 'make a user: EMAIL, with a password of --password or one that is made up and shown once',
    options: { password: { type: 'string' }, name: { type: 'string' } },
    run: (options) =>
      withAccounts(options, async (accounts) => {
        const email = wordAt(options.words, 0, 'users create EMAIL');
        const { password, name } = options.values;
        const chosen = typeof password === 'string' ? password : randomBytes(18).toString('base64url');
        const id = await accounts.createUser({ email, password: chosen, name: typeof name === 'string' ? name : email.split('@')[0]! });
        const shown = typeof password === 'string' ? {} : { password: chosen };
        return { lines: [`Made ${email}.`, ...Object.values(shown).map((made) => `Password: ${made}`)], result: { id, email, ...shown } };
      }),
  },
  {
    name: 'users set-plan',
    summary: 'give a plan without payment: EMAIL PLAN ("" takes it back)',
    run: (options) =>
      withAccounts(options, async ({ directory }) => {
        const [email, plan = ''] = [wordAt(options.words, 0, 'users set-plan EMAIL PLAN'), options.words[1]];
        await directory.setPlan(await directory.idOf(email), plan, 'by the command line');
        return { lines: [plan === '' ? `${email} has what is paid.` : `${email} has the plan ${plan}.`], result: { email, plan } };
      }),
  },
  {
    name: 'users set-role',
    summary: 'give a user a role, or several with commas, instead of those before: EMAIL ROLE',
    run: (options) =>
      withAccounts(options, async ({ directory }) => {
        const [email, role] = [
          wordAt(options.words, 0, 'users set-role EMAIL ROLE'),
          wordAt(options.words, 1, 'users set-role EMAIL ROLE'),
        ];
        await directory.setRole(await directory.idOf(email), role);
        return { lines: [`${email} has the role ${role}.`], result: { email, role } };
      }),
  },
  {
    name: 'users ban',
    summary: 'shut a user out: EMAIL, or let it in again with --undo',
    options: { undo: { type: 'boolean' } },
    run: (options) =>
      withAccounts(options, async ({ directory }) => {
        const email = wordAt(options.words, 0, 'users ban EMAIL');
        await directory.setBanned(await directory.idOf(email), options.values.undo !== true);
        return {
          lines: [options.values.undo ? `${email} may sign in again.` : `${email} is shut out.`],
          result: { email, banned: options.values.undo !== true },
        };
      }),
  },
  {
    name: 'keys create',
    summary: 'make an API key for a user: EMAIL NAME',
    run: (options) =>
      withAccounts(options, async ({ directory, keys }) => {
        const [email, name] = [wordAt(options.words, 0, 'keys create EMAIL NAME'), wordAt(options.words, 1, 'keys create EMAIL NAME')];
        const made = await keys.create(await directory.idOf(email), { name });
        return { lines: [made.key, 'This is the one time that the key is shown.'], result: made };
      }),
  },
  {
    name: 'keys list',
    summary: 'list the keys of a user: EMAIL',
    run: (options) =>
      withAccounts(options, async ({ directory, keys }) => {
        const list = await keys.list(await directory.idOf(wordAt(options.words, 0, 'keys list EMAIL')));
        return {
          lines: list.map(({ id, prefix, name, lastUsed }) => `${id}  ${prefix}...  ${name}  ${lastUsed ?? 'never used'}`),
          result: list,
        };
      }),
  },
  {
    name: 'keys revoke',
    summary: 'end a key: EMAIL ID',
    run: (options) =>
      withAccounts(options, async ({ directory, keys }) => {
        const [email, id] = [wordAt(options.words, 0, 'keys revoke EMAIL ID'), wordAt(options.words, 1, 'keys revoke EMAIL ID')];
        if (!(await keys.revoke(await directory.idOf(email), id)))
          throw new Failure('not_found', `${email} has no key ${id}; "quern accounts keys list ${email}" names them`);
        return { lines: [`The key ${id} has ended.`], result: { email, id } };
      }),
  },
];

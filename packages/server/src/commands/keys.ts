import { type ApiKey, roleIds } from '../access/index.ts';
import { invalid, isCalendarDay } from '../platform/index.ts';
import { endOnRefusal, readCommand, UsageError } from './program.ts';
import { type CommandTools, operator, runAction } from './tools.ts';

/** Makes, lists and disables secret keys, straight on the database. */
const usage = `usage: npm run keys -- create [--role ${roleIds.join(' | ')}] [--description TEXT] [--expires 2027-01-31 | 90d] [--organization ID]
       npm run keys -- list [--organization ID]
       npm run keys -- disable KEY_ID [--organization ID]`;

const say = (line: string) => process.stdout.write(`${line}\n`);

await endOnRefusal(async () => {
  const options = {
    role: { type: 'string', default: 'admin' },
    description: { type: 'string', default: 'Made on the command line' },
    expires: { type: 'string' },
    organization: { type: 'string' },
  } as const;
  const { action, rest, values } = readCommand(usage, options, { disable: 1 });
  await runAction(usage, { create, list, disable }, action);

  async function create(tools: CommandTools): Promise<void> {
    const { keys, clock } = tools;
    const organization = await chosenOrganization(tools, values.organization);
    const expiresAt = readExpiry(values.expires, clock.now());
    const { role, description } = values;
    const { apiKey, key } = await keys.create(organization, { role, description, expiresAt }, operator);
    say(`${key}`);
    process.stderr.write(
      `Key ${apiKey.id} (${role}) of ${organization}${expiresAt === null ? '' : `, until ${expiresAt.toISOString()}`}. It is shown this once.\n`,
    );
  }

  async function list(tools: CommandTools): Promise<void> {
    const organization = await chosenOrganization(tools, values.organization);
    for (const key of await tools.keys.list(organization)) say(describe(key));
  }

  async function disable(tools: CommandTools): Promise<void> {
    const [id] = rest;
    if (id === undefined) throw new UsageError(usage);
    const organization = await chosenOrganization(tools, values.organization);
    await tools.keys.disable(organization, id, operator);
    say(`Key ${id} is disabled.`);
  }
});

/** The organization that is meant: the one named, else the only one there is. */
async function chosenOrganization({ db, organizations }: CommandTools, named: string | undefined): Promise<string> {
  const all = await organizations.list(db);
  if (named !== undefined) {
    if (all.some(({ id }) => id === named)) return named;
    throw invalid(`There is no organization ${named}.`);
  }
  const [only] = all;
  if (only === undefined)
    throw invalid('There is no organization yet: npm run organizations -- create --name NAME --owner-email EMAIL');
  if (all.length > 1)
    throw invalid(
      `There are several organizations, name one with --organization: ${all.map(({ id }) => id).join(', ')}`,
    );
  return only.id;
}

function readExpiry(text: string | undefined, now: Date): Date | null {
  if (text === undefined) return null;
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  if (days !== undefined) return new Date(now.getTime() + Number(days) * 86_400_000);
  const date = new Date(text);
  if (isCalendarDay(text.slice(0, 10)) && !Number.isNaN(date.getTime())) return date;
  throw new UsageError(`--expires takes a date such as 2027-01-31, or days such as 90d, not ${text}.`);
}

function describe({ id, preview, roles, description, disabled, expiresAt, lastUsed }: ApiKey): string {
  const state = disabled ? 'disabled' : expiresAt === null ? 'no expiry' : `until ${expiresAt.toISOString()}`;
  const used = lastUsed === null ? 'never used' : `last used ${lastUsed.toISOString()}`;
  return [id, preview, roles.role, state, used, description].join('\t');
}

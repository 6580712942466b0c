import { addMember } from '../access/index.ts';
import { endOnRefusal, readCommand, UsageError } from './program.ts';
import { type CommandTools, operator, runAction } from './tools.ts';

/** Makes and lists organizations, straight on the database. */
const usage = `usage: npm run organizations -- create --name NAME --owner-email EMAIL [--external-id ID] [--admin]
       npm run organizations -- list
With --admin the owner becomes a member with the role admin, so that features can be created in their name.`;

const say = (line: string) => process.stdout.write(`${line}\n`);

await endOnRefusal(async () => {
  const { action, values } = readCommand(usage, {
    name: { type: 'string' },
    'owner-email': { type: 'string' },
    'external-id': { type: 'string' },
    admin: { type: 'boolean', default: false },
  });
  await runAction(usage, { create, list }, action);

  async function create({ db, clock, newId, organizations }: CommandTools): Promise<void> {
    const { name, 'owner-email': ownerEmail, 'external-id': externalId, admin } = values;
    if (name === undefined || ownerEmail === undefined) throw new UsageError(usage);
    const made = await db.transaction().execute(async (tx) => {
      const input = { name, ownerEmail, ...(externalId === undefined ? {} : { externalId }) };
      const organization = await organizations.create(tx, input, operator);
      if (admin)
        await addMember(
          tx,
          { newId, clock },
          organization.id,
          { email: ownerEmail, name: '', role: 'admin' },
          operator,
        );
      return organization;
    });
    say(made.id);
  }

  async function list({ db, organizations }: CommandTools): Promise<void> {
    for (const { id, name, ownerEmail, dateCreated } of await organizations.list(db)) {
      say([id, name, ownerEmail, dateCreated.toISOString()].join('\t'));
    }
  }
});

import { z } from 'zod';

const namedMember = z.strictObject({ id: z.string(), name: z.string(), email: z.string() });

/**
 * Who did something, as answers show it. `id` is the person's id, or the key's for a secret key that acts as itself.
 * `requestedBy` and `assumedRole` are there only when the request named a member.
 */
export const eventUser = z
  .strictObject({
    type: z.enum(['dashboard', 'api_key', 'system']),
    id: z.string().optional(),
    name: z.string().optional(),
    email: z.string().optional(),
    requestedBy: namedMember.optional(),
    assumedRole: z.literal(true).optional(),
  })
  .meta({ id: 'EventUser' });
export type EventUser = z.output<typeof eventUser>;

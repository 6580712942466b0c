import { z } from 'zod';
import { pageOf, pageQuery, timestamp } from './common.ts';
import { operation } from './operation.ts';

const additionalRoles = z
  .array(
    z.strictObject({
      role: z.string(),
      environments: z.array(z.string()),
      limitAccessByEnvironment: z.boolean().optional(),
    }),
  )
  .meta({ id: 'MemberAdditionalRoles' });

const projectRoles = z
  .array(
    z.strictObject({
      project: z.string(),
      role: z.string(),
      limitAccessByEnvironment: z.boolean(),
      environments: z.array(z.string()),
      additionalRoles: additionalRoles.optional(),
    }),
  )
  .meta({ id: 'MemberProjectRoles' });

export const member = z
  .strictObject({
    id: z.string(),
    email: z.string(),
    name: z.string().optional(),
    globalRole: z.string(),
    environments: z.array(z.string()).optional(),
    limitAccessByEnvironment: z.boolean().optional(),
    additionalRoles: additionalRoles.optional(),
    projectRoles: projectRoles.optional(),
    teams: z.array(z.string()).optional(),
    managedbyIdp: z.boolean().optional(),
    lastLoginDate: timestamp.optional(),
    dateCreated: timestamp.optional(),
    dateUpdated: timestamp.optional(),
  })
  .meta({ id: 'Member' });
export type Member = z.output<typeof member>;

export const listMembers = operation({
  id: 'listMembers',
  method: 'GET',
  path: '/v1/members',
  tag: 'members',
  summary: 'List the members of the organization, by id',
  permission: 'manageTeam',
  query: z.strictObject({
    ...pageQuery,
    userName: z.string().optional(),
    userEmail: z.string().optional(),
    globalRole: z.string().optional(),
  }),
  response: pageOf('members', member),
});

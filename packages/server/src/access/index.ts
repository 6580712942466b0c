/** Who asks and what they may do: members, roles, permissions, keys, the requester; the first admin. */
export { addMember } from './add-member.ts';
export { authenticator } from './authenticate.ts';
export { type FirstAdmin, type FirstStart, firstStart } from './first-start.ts';
export { type ApiKey, type KeyService, keyService, type NewKey } from './keys.ts';
export { memberService, ownerEmail, resolveOwner } from './members.ts';
export { roleReferences } from './references.ts';
export { roleIds } from './roles.ts';
export { accessRoutes } from './routes.ts';

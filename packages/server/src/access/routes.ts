import { listMembers } from '@halyard/contract';
import { bind, type Paginate, type Route } from '../http/index.ts';
import { demand } from '../requester/index.ts';
import { type MemberService, showMember } from './members.ts';

export function accessRoutes(members: MemberService, paginate: Paginate): Route[] {
  return [
    bind(listMembers, async (call) => {
      demand(call.requester, 'manageTeam', { projects: [] });
      const { items, fields } = paginate(await members.list(call.requester.organization, call.query), call.query);
      return { members: items.map(showMember), ...fields };
    }),
  ];
}

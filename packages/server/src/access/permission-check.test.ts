import type { Permission } from '@halyard/contract';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { effectivePermissions, isAllowed, isVisible } from './permission-check.ts';
import type { RoleInfo } from './role-info.ts';

/** Roles for these tests: the rules are the same whatever roles there are. */
const roles: Record<string, ReadonlySet<Permission>> = {
  noaccess: new Set(),
  readonly: new Set(['readData']),
  engineer: new Set([
    'readData',
    'createFeatures',
    'publishFeatures',
    'reviewFeatures',
    'deleteFeatures',
    'editFeatureDrafts',
  ]),
  publisher: new Set(['readData', 'publishFeatures']),
  collaborator: new Set(['readData', 'addComments']),
  admin: new Set(['readData', 'createFeatures', 'publishFeatures', 'manageTeam', 'manageProjects']),
};
const environments = ['dev', 'staging', 'production'];

const rule = (role: string, limitedTo?: string[]) => ({
  role,
  limitAccessByEnvironment: limitedTo !== undefined,
  environments: limitedTo ?? [],
});
const info = (base: ReturnType<typeof rule>, more: Partial<RoleInfo> = {}): RoleInfo => ({
  ...base,
  additionalRoles: [],
  projectRoles: [],
  ...more,
});
const ofRole = (role: string) => new Map(Object.entries(roles)).get(role) ?? new Set<Permission>();
const held = (roleInfo: RoleInfo) => effectivePermissions(roleInfo, environments, ofRole);
const may = (roleInfo: RoleInfo, permission: Permission, projects: string[] = [], touched?: string[]) =>
  isAllowed(held(roleInfo), permission, { projects, ...(touched === undefined ? {} : { environments: touched }) });

describe('permissions', () => {
  test('a project role takes the place of the global one, up and down [tenancy M41]', () => {
    const up = info(rule('readonly'), { projectRoles: [{ project: 'a', ...rule('engineer') }] });
    expect([may(up, 'editFeatureDrafts', ['a']), may(up, 'editFeatureDrafts', ['b'])]).toEqual([true, false]);
    const down = info(rule('engineer'), { projectRoles: [{ project: 'a', ...rule('noaccess') }] });
    expect([may(down, 'editFeatureDrafts', ['a']), may(down, 'editFeatureDrafts', ['b'])]).toEqual([false, true]);
    expect(isVisible(held(down), ['a'])).toBe(false);
    expect(isVisible(held(down), ['b'])).toBe(true);
  });

  test('additional rules add up; a base without access does not suppress them [tenancy M43]', () => {
    const both = info(rule('noaccess'), { additionalRoles: [rule('engineer', ['dev'])] });
    expect(may(both, 'publishFeatures', [], ['dev'])).toBe(true);
    expect(may(both, 'publishFeatures', [], ['production'])).toBe(false);
    expect(may(both, 'readData')).toBe(true);
  });

  test('environment limits of one role do not leak into another [tenancy M44]', () => {
    const both = info(rule('engineer', ['dev']), { additionalRoles: [rule('publisher', ['production'])] });
    expect(may(both, 'publishFeatures', [], ['production'])).toBe(true);
    expect(may(both, 'createFeatures', [], ['production'])).toBe(false);
    expect(may(both, 'createFeatures', [], ['dev'])).toBe(true);
  });

  test('a footprint is covered by several grants together; one environment outside fails it [tenancy M45]', () => {
    const both = info(rule('engineer', ['dev']), { additionalRoles: [rule('publisher', ['staging'])] });
    expect(may(both, 'publishFeatures', [], ['dev', 'staging'])).toBe(true);
    expect(may(both, 'publishFeatures', [], ['dev', 'staging', 'production'])).toBe(false);
  });

  test('a limit that names every environment is none, an empty one allows none, unknown names change nothing [tenancy M46]', () => {
    expect(may(info(rule('engineer', [...environments, 'old'])), 'publishFeatures', [], ['brand-new'])).toBe(true);
    expect(may(info(rule('engineer', [])), 'publishFeatures', [], ['dev'])).toBe(false);
    expect(may(info(rule('engineer', ['old'])), 'publishFeatures', [], ['dev'])).toBe(false);
  });

  test('limits mean nothing for roles without such permissions and for admins [tenancy M47]', () => {
    expect(may(info(rule('readonly', ['dev'])), 'readData')).toBe(true);
    expect(may(info(rule('admin', ['dev'])), 'publishFeatures', [], ['production'])).toBe(true);
  });

  test('judging a change that is bound to no environment takes an unlimited grant, publishing it does not [tenancy M48]', () => {
    const limited = info(rule('engineer', ['dev']));
    expect(may(limited, 'reviewFeatures', [], [])).toBe(false);
    expect(may(limited, 'publishFeatures', [], [])).toBe(true);
    expect(may(info(rule('engineer')), 'reviewFeatures', [], [])).toBe(true);
  });

  test('an object of all projects is read with a right in any, and changed with the global one only [tenancy M49]', () => {
    const inA = info(rule('noaccess'), { projectRoles: [{ project: 'a', ...rule('engineer') }] });
    expect(isVisible(held(inA), null)).toBe(true);
    expect(may(inA, 'editFeatureDrafts', [])).toBe(false);
    expect(isVisible(held(inA), [''])).toBe(false);
    expect(isVisible(held(info(rule('noaccess'))), null)).toBe(false);
  });

  test('of an object in two projects, reading needs one and changing both [tenancy M50]', () => {
    const inA = info(rule('noaccess'), { projectRoles: [{ project: 'a', ...rule('engineer') }] });
    expect(isVisible(held(inA), ['a', 'b'])).toBe(true);
    expect(may(inA, 'editFeatureDrafts', ['a', 'b'])).toBe(false);
  });

  test('a project role never grants what is global', () => {
    const inA = info(rule('readonly'), { projectRoles: [{ project: 'a', ...rule('admin') }] });
    expect(may(inA, 'manageTeam', ['a'])).toBe(false);
    expect(may(inA, 'manageProjects', ['a'])).toBe(true);
  });

  test('an unknown role gives nothing', () => {
    expect(may(info(rule('wizard')), 'readData')).toBe(false);
    expect(may(info(rule('constructor')), 'readData')).toBe(false);
  });

  test('two rules for one project, in rows of old, are united', () => {
    const twice = info(rule('noaccess'), {
      projectRoles: [
        { project: 'a', ...rule('publisher', ['dev']) },
        { project: 'a', ...rule('collaborator') },
      ],
    });
    expect(may(twice, 'addComments', ['a'])).toBe(true);
    expect(may(twice, 'publishFeatures', ['a'], ['dev'])).toBe(true);
  });

  test('the worked example of a member', () => {
    const member = info(rule('readonly'), {
      additionalRoles: [rule('engineer', ['dev'])],
      projectRoles: [
        { project: 'pay', ...rule('engineer', ['staging']), additionalRoles: [rule('publisher', ['production'])] },
      ],
    });
    expect(may(member, 'publishFeatures', [], ['dev'])).toBe(true);
    expect(may(member, 'publishFeatures', [], ['dev', 'staging'])).toBe(false);
    expect(may(member, 'publishFeatures', ['pay'], ['staging', 'production'])).toBe(true);
    expect(may(member, 'createFeatures', ['pay'], ['production'])).toBe(false);
    expect(may(member, 'reviewFeatures', ['pay'], [])).toBe(false);
  });

  test('more roles never take anything away', () => {
    const anyRule = fc.record({
      role: fc.constantFrom(...Object.keys(roles)),
      limitAccessByEnvironment: fc.boolean(),
      environments: fc.subarray(environments),
    });
    const permission = fc.constantFrom<Permission>(
      'readData',
      'publishFeatures',
      'createFeatures',
      'reviewFeatures',
      'manageTeam',
    );
    fc.assert(
      fc.property(anyRule, anyRule, permission, fc.subarray(environments), (base, more, asked, touched) => {
        const before = may(info(base), asked, [], touched);
        const after = may(info(base, { additionalRoles: [more] }), asked, [], touched);
        expect(after || !before).toBe(true);
      }),
    );
  });
});

import type { OrganizationSettings } from '../organization/index.ts';
import { requireProjects } from '../organization/index.ts';
import { invalid, judgeRegularExpression, quoted, quotedList } from '../platform/index.ts';
import type { StateReader } from '../record/index.ts';
import { demand, type Requester } from '../requester/index.ts';
import { featureKind } from './feature.ts';

const longestId = 256;

/** @throws Refusal (invalid) when no feature can be created under that id */
export function checkNewId(id: string, states: StateReader, settings: OrganizationSettings): void {
  if (states.get(featureKind, id) !== null) {
    throw invalid(`There is a feature ${quoted(id)} already, perhaps an archived one. Ids are never used twice.`);
  }
  if (!/^[a-zA-Z0-9_-]+$/.test(id) || id.length > longestId) {
    throw invalid(`The feature id ${quoted(id)} must be 1 to ${longestId} letters, digits, hyphens and underscores.`);
  }
  const expression = idExpression(settings.featureRegexValidator);
  if (expression !== null && !expression.test(id)) {
    const example = settings.featureKeyExample === '' ? '' : `, such as ${quoted(settings.featureKeyExample)}`;
    throw invalid(`The feature id ${quoted(id)} must match ${settings.featureRegexValidator}${example}.`);
  }
}

/** Null where nothing is asked for, or what is asked for cannot be used. */
function idExpression(pattern: string): RegExp | null {
  return pattern === '' || judgeRegularExpression(pattern).kind !== 'safe' ? null : new RegExp(pattern);
}

/** What refers to objects of kinds that do not exist is unknown, and never passed over. */
export function refuseUnknownReferences(body: {
  readonly baseConfig?: string | null | undefined;
  readonly defaultValueConfig?: string | null | undefined;
  readonly customFields?: Readonly<Record<string, string>> | undefined;
  readonly holdout?: { readonly id: string } | null | undefined;
}): void {
  const { baseConfig, defaultValueConfig, customFields = {}, holdout } = body;
  if (baseConfig) throw invalid(`Unknown config ${quoted(baseConfig)} in baseConfig.`);
  if (defaultValueConfig) {
    throw invalid(
      `Unknown config ${quoted(defaultValueConfig)} in defaultValueConfig: the feature is not backed by a config.`,
    );
  }
  const fields = Object.keys(customFields);
  if (fields.length > 0) throw invalid(`Unknown custom field: ${quotedList(fields)}.`);
  if (holdout) throw invalid(`Unknown holdout ${quoted(holdout.id)}.`);
}

/** Where a feature is delivered beside its own project. */
export interface Targeting {
  readonly targetingAllProjects: boolean;
  readonly targetingProjects: readonly string[];
}

/** Every project makes a list needless; blanks, repetitions and the feature's own project are dropped from it. */
export function effectiveTargeting(
  project: string,
  wanted: { readonly [Key in keyof Targeting]?: Targeting[Key] | undefined },
): Targeting {
  if (wanted.targetingAllProjects === true) return { targetingAllProjects: true, targetingProjects: [] };
  const listed = (wanted.targetingProjects ?? []).filter((id) => id.trim() !== '' && id !== project);
  return { targetingAllProjects: false, targetingProjects: [...new Set(listed)] };
}

/** @throws Refusal (invalid) when a project of the list is unknown that was not in it before */
export function checkAddedProjects(
  states: StateReader,
  after: readonly string[],
  before: readonly string[] = [],
): void {
  requireProjects(
    states,
    after.filter((id) => !before.includes(id)),
  );
}

/** Delivering a feature to further projects needs the right to target there; to leave some needs nothing. */
export function checkTargeting(requester: Requester, after: Targeting, before: Targeting | null): void {
  if (after.targetingAllProjects && before?.targetingAllProjects !== true)
    demand(requester, 'targetFeatures', { projects: [] });
  for (const project of after.targetingProjects) {
    const known = before !== null && (before.targetingAllProjects || before.targetingProjects.includes(project));
    if (!known) demand(requester, 'targetFeatures', { projects: [project] });
  }
}

import type { OrganizationSettings } from '../organization/index.ts';
import { invalid, judgeRegularExpression, quoted } from '../platform/index.ts';
import type { StateReader } from '../record/index.ts';
import { featureKind } from './feature.ts';

const longestId = 256;

/** @throws Refusal (invalid) when no feature can be created under that id */
export function checkNewId(id: string, states: StateReader, settings: OrganizationSettings): void {
  if (states.get(featureKind, id) !== null) {
    throw invalid(`There is a feature ${quoted(id)} already, perhaps an archived one. Choose another id.`);
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

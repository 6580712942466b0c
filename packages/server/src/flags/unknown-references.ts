import { invalid, quoted } from '../platform/index.ts';

/** What a request may say of objects of kinds that do not exist. */
export interface UnknownReferences {
  readonly baseConfig?: string | null | undefined;
  readonly defaultValueConfig?: string | null | undefined;
  readonly holdout?: { readonly id: string } | null | undefined;
}

/** What refers to objects of kinds that do not exist is unknown, and never passed over. */
export function refuseUnknownReferences(asked: UnknownReferences): void {
  const { baseConfig, defaultValueConfig, holdout } = asked;
  if (baseConfig) throw invalid(`Unknown config ${quoted(baseConfig)} in baseConfig.`);
  if (defaultValueConfig) {
    throw invalid(
      `Unknown config ${quoted(defaultValueConfig)} in defaultValueConfig: the feature is not backed by a config.`,
    );
  }
  if (holdout) throw invalid(`Unknown holdout ${quoted(holdout.id)}.`);
}

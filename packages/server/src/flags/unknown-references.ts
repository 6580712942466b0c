import { invalid, quoted, quotedList } from '../platform/index.ts';

/** What a request may say of objects of kinds that do not exist. */
export interface UnknownReferences {
  readonly baseConfig?: string | null | undefined;
  readonly defaultValueConfig?: string | null | undefined;
  readonly customFields?: Readonly<Record<string, string>> | undefined;
  readonly holdout?: { readonly id: string } | null | undefined;
}

/** What refers to objects of kinds that do not exist is unknown, and never passed over. */
export function refuseUnknownReferences(asked: UnknownReferences): void {
  const { baseConfig, defaultValueConfig, customFields = {}, holdout } = asked;
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

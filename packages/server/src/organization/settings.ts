import { type StateReader, stateKind } from '../record/index.ts';

/** Settings of an organization, as far as something reads them. */
export interface OrganizationSettings {
  /** A new feature's id must match it; `""`: anything goes. */
  readonly featureRegexValidator: string;
  /** Shown to people whose id does not match. */
  readonly featureKeyExample: string;
  readonly requireProjectForFeatures: boolean;
  readonly requireProjectForSdkConnections: boolean;
  /** Conditions and hash attributes must name declared attributes. */
  readonly requireRegisteredAttributes: { readonly isOn: boolean; readonly requireProjectScoping: boolean };
  /** Values that do not fit their schema stop a landing unless validation is skipped; otherwise they only warn. */
  readonly blockPublishOnSchemaError: boolean;
  /** Writes over the API skip review gates. */
  readonly restApiBypassesReviews: boolean;
  readonly killswitchConfirmation: boolean;
  /** Mixed into the hashes of secure attributes in payloads. */
  readonly secureAttributeSalt: string;
  /** The most values that a saved group may list; null: no limit. */
  readonly savedGroupSizeLimit: number | null;
}

/** What holds where an organization has set nothing. */
const standard: OrganizationSettings = {
  featureRegexValidator: '',
  featureKeyExample: '',
  requireProjectForFeatures: false,
  requireProjectForSdkConnections: false,
  requireRegisteredAttributes: { isOn: false, requireProjectScoping: false },
  blockPublishOnSchemaError: true,
  restApiBypassesReviews: false,
  killswitchConfirmation: false,
  secureAttributeSalt: '',
  savedGroupSizeLimit: null,
};

/** Settings as they are stored: what is not set is left out, and one of them has an older form. */
export type StoredSettings = Partial<Omit<OrganizationSettings, 'requireRegisteredAttributes'>> & {
  /** Of old: on means in every respect. */
  readonly requireRegisteredAttributes?: boolean | Partial<OrganizationSettings['requireRegisteredAttributes']>;
};

/** There is one object of this kind in an organization. */
export const settingsKind = stateKind<StoredSettings>('settings');
export const settingsId = 'organization';

/** The settings in force. */
export function settingsOf(states: StateReader): OrganizationSettings {
  const { requireRegisteredAttributes: registered, ...stored } = states.get(settingsKind, settingsId)?.state ?? {};
  return { ...standard, ...stored, requireRegisteredAttributes: registeredAttributes(registered) };
}

const registeredAttributes = (
  stored: StoredSettings['requireRegisteredAttributes'],
): OrganizationSettings['requireRegisteredAttributes'] =>
  typeof stored === 'boolean'
    ? { isOn: stored, requireProjectScoping: stored }
    : { ...standard.requireRegisteredAttributes, ...stored };

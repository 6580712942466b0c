/** What an SDK version understands; some of it changes what a payload may hold. */
const capabilities = [
  'looseUnmarshalling',
  'namespacesV2',
  'encryption',
  'streaming',
  'bucketingV2',
  'visualEditor',
  'semverTargeting',
  'visualEditorJS',
  'remoteEval',
  'visualEditorDragDrop',
  'stickyBucketing',
  'prerequisites',
  'redirects',
  'savedGroupReferences',
  'trackingPlugin',
  'caseInsensitiveRegex',
  'caseInsensitiveMembership',
  'contextualBandits',
] as const;

export type Capability = (typeof capabilities)[number];

/** For whom a payload is compiled: everything of an SDK connection that decides what is in it. */
export interface PayloadOptions {
  readonly environment: string;
  /** Projects of the connection, none meaning all that the environment lets in; null: no filter at all. */
  readonly projects: readonly string[] | null;
  readonly capabilities: ReadonlySet<Capability>;
  readonly includeRuleIds: boolean;
  readonly includeExperimentNames: boolean;
  readonly includeProjectIdInMetadata: boolean;
  readonly includeTagsInMetadata: boolean;
  /** Ids of the custom fields whose values go into metadata. */
  readonly customFieldsInMetadata: readonly string[];
  readonly hashSecureAttributes: boolean;
  /** The `experiments` of the payload: present, if only empty, when either kind is on. */
  readonly includeAutoExperiments: boolean;
  readonly savedGroupReferences: boolean;
}

/** Every capability there is. */
export const everyCapability: ReadonlySet<Capability> = new Set(capabilities);

/**
 * What the interface shows as a feature's definition in an environment: for an SDK that understands everything. Lists of saved
 * groups are named in it, not written out: each may be as long as 1 MiB, and not everyone who reads a feature may read them.
 */
export const definitionOptions = (environment: string): PayloadOptions => ({
  environment,
  projects: null,
  capabilities: everyCapability,
  includeRuleIds: false,
  includeExperimentNames: false,
  includeProjectIdInMetadata: false,
  includeTagsInMetadata: false,
  customFieldsInMetadata: [],
  hashSecureAttributes: false,
  includeAutoExperiments: false,
  savedGroupReferences: true,
});

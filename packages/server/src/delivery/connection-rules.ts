import type { Capability } from '../flags/index.ts';
import {
  customFieldKind,
  type Entitlements,
  environmentKind,
  requireProjects,
  settingsOf,
} from '../organization/index.ts';
import { invalid, isPublicHost, quoted, quotedList } from '../platform/index.ts';
import type { StateReader } from '../record/index.ts';
import type { Requester } from '../requester/index.ts';
import type { ConnectionState } from './connection.ts';
import { capabilitiesOf, sdkLanguages } from './sdk-languages.ts';

/** What connections are judged with. */
export interface ConnectionRules {
  readonly requester: Requester;
  readonly states: StateReader;
  readonly entitlements: Entitlements;
  /** The installation serves the public: proxies must be hosts that everyone can reach. */
  readonly hosted: boolean;
}

/** Options that an SDK must understand. */
const needed: readonly (readonly [keyof ConnectionState, Capability])[] = [
  ['encryptPayload', 'encryption'],
  ['remoteEvalEnabled', 'remoteEval'],
  ['includeVisualExperiments', 'visualEditor'],
  ['includeRedirectExperiments', 'redirects'],
];

/**
 * Judges a connection as it would be.
 *
 * @param before as it is; null: it is new
 * @throws Refusal (invalid, forbidden)
 */
export function checkConnection(after: ConnectionState, before: ConnectionState | null, rules: ConnectionRules): void {
  const { states, requester } = rules;
  checkLanguage(after, before);
  if (after.environment !== before?.environment && states.get(environmentKind, after.environment) === null) {
    throw invalid(`Unknown environment ${quoted(after.environment)}. Use an id that GET /v1/environments lists.`);
  }
  requireProjects(requester, states, after.projects, before?.projects);
  if (
    after.projects.length === 0 &&
    settingsOf(states).requireProjectForSdkConnections &&
    before?.projects.length !== 0
  ) {
    throw invalid('The organization requires projects for every SDK connection: send at least one in "projects".');
  }
  checkCapabilities(after);
  checkCustomFields(after, before, states);
  checkProxy(after, rules.hosted);
  checkEntitlements(after, before, rules);
}

function checkLanguage({ languages, sdkVersion }: ConnectionState, before: ConnectionState | null): void {
  if (languages.length > 1 && sdkVersion !== before?.sdkVersion) {
    throw invalid('A connection of several languages goes by their standard versions: send one language as well.');
  }
  for (const name of languages) {
    const known = sdkLanguages.get(name);
    if (known === undefined) {
      throw invalid(`Unknown language ${quoted(name)}. There are: ${[...sdkLanguages.keys()].join(', ')}.`);
    }
    if (sdkVersion !== undefined && languages.length === 1 && !known.versions.includes(sdkVersion)) {
      throw invalid(
        `There is no version ${quoted(sdkVersion)} of the ${name} SDK. The newest ones are: ${known.versions.slice(0, 5).join(', ')}.`,
      );
    }
  }
}

function checkCapabilities(connection: ConnectionState): void {
  const { languages, sdkVersion } = connection;
  const capabilities = capabilitiesOf(languages, sdkVersion);
  for (const [option, capability] of needed) {
    if (connection[option] === true && !capabilities.has(capability)) {
      throw invalid(
        `${option} needs an SDK with the capability ${capability}; ${languages.join(', ')} ${sdkVersion ?? ''} has not got it.`,
      );
    }
  }
}

function checkCustomFields(
  { allowedCustomFieldsInMetadata: allowed = [] }: ConnectionState,
  before: ConnectionState | null,
  states: StateReader,
): void {
  const known = before?.allowedCustomFieldsInMetadata ?? [];
  const unknown = allowed.filter((id) => !known.includes(id) && states.get(customFieldKind, id) === null);
  if (unknown.length > 0) {
    throw invalid(
      `Unknown custom field in allowedCustomFieldsInMetadata: ${quotedList(unknown)}. Use the ids that GET /v1/custom-fields lists.`,
    );
  }
}

function checkProxy({ proxyEnabled, proxyHost }: ConnectionState, hosted: boolean): void {
  if (!proxyEnabled) return;
  const url = URL.canParse(proxyHost) ? new URL(proxyHost) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw invalid(
      'With proxyEnabled, proxyHost must be an absolute http(s) address, such as https://proxy.example.com.',
    );
  }
  if (hosted && !isPublicHost(url.hostname))
    throw invalid('proxyHost must be a host that is reachable from the internet.');
}

function checkEntitlements(
  after: ConnectionState,
  before: ConnectionState | null,
  { entitlements, hosted }: ConnectionRules,
): void {
  const begins = (option: keyof ConnectionState) => after[option] === true && before?.[option] !== true;
  if (begins('encryptPayload')) entitlements.require('encrypt-features-endpoint');
  if (begins('hashSecureAttributes')) entitlements.require('hash-secure-attributes');
  if (begins('remoteEvalEnabled')) entitlements.require('remote-evaluation');
  if (hosted && begins('proxyEnabled')) entitlements.require('cloud-proxy');
}

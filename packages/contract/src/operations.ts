import * as archetypes from './archetypes.ts';
import * as attributes from './attributes.ts';
import * as codeReferences from './code-references.ts';
import * as customFields from './custom-fields.ts';
import * as environments from './environments.ts';
import * as eventWebhooks from './event-webhooks.ts';
import * as features from './features.ts';
import * as featuresV1 from './features-v1.ts';
import * as members from './members.ts';
import * as meta from './meta.ts';
import * as namespaces from './namespaces.ts';
import type { Operation } from './operation.ts';
import * as projects from './projects.ts';
import * as revertFeature from './revert-feature.ts';
import * as savedGroups from './saved-groups.ts';
import * as sdkConnections from './sdk-connections.ts';
import * as sdkWebhooks from './sdk-webhooks.ts';
import * as staleFeatures from './stale-features.ts';
import * as webhookSecrets from './webhook-secrets.ts';

const areas: readonly object[] = [
  projects,
  environments,
  features,
  revertFeature,
  staleFeatures,
  savedGroups,
  featuresV1,
  sdkConnections,
  sdkWebhooks,
  eventWebhooks,
  webhookSecrets,
  attributes,
  namespaces,
  codeReferences,
  archetypes,
  customFields,
  members,
  meta,
];

const isOperation = (declared: unknown): declared is Operation =>
  typeof declared === 'object' && declared !== null && 'method' in declared && 'response' in declared;

/** Every operation of the interface, area by area, in the order of their declaration. */
export const operations: readonly Operation[] = areas.flatMap((area) => Object.values(area).filter(isOperation));

import type { BodyOf, QueryOf, ResponseOf, simulateArchetype } from '@halyard/contract';
import type { Paginate } from '../../http/index.ts';
import { type Entitlements, environmentsOf } from '../../organization/index.ts';
import { invalid, notFound, quoted } from '../../platform/index.ts';
import { readerWith } from '../../record/index.ts';
import type { Requester } from '../../requester/index.ts';
import type { Revisions } from '../../revisions/index.ts';
import type { ArchetypeService } from '../../targeting/index.ts';
import { contentOf, type FeatureContent, featureRevisionKind, type LiveFeature, type StoredRule } from '../feature.ts';
import { findFeature } from '../find-feature.ts';
import type { RuleKinds } from '../rule-kinds.ts';
import { requireEnvironments } from '../scope.ts';
import { visibleFeatures } from '../visible-features.ts';
import type { BoundedEvaluation } from './bounded-evaluation.ts';
import type { SimulatedRule } from './rule-log.ts';
import { type Subject, simulateFeatures } from './simulated-environments.ts';

/** What simulations work with. */
export interface SimulationTools {
  readonly archetypes: ArchetypeService;
  readonly revisions: Revisions;
  readonly kinds: RuleKinds;
  readonly entitlements: Entitlements;
  readonly paginate: Paginate;
  readonly bounded: BoundedEvaluation;
}

type Asked = BodyOf<typeof simulateArchetype>;

/** Evaluates features for an archetype as SDKs would, in each environment, and says how each value came about. */
export async function simulate(
  requester: Requester,
  archetype: string,
  asked: Asked,
  page: QueryOf<typeof simulateArchetype>,
  tools: SimulationTools,
): Promise<ResponseOf<typeof simulateArchetype>> {
  const { states } = requester;
  const { attributes } = (await tools.archetypes.find(requester, archetype)).state;
  const { featureId, environment, evalDate } = asked;
  const features =
    featureId === undefined
      ? visibleFeatures(requester, { archived: false })
      : [findFeature(requester, states, featureId)];
  tools.entitlements.require('simulate');
  if (environment !== undefined) requireEnvironments(states, [environment], 'the simulation');
  const { version, content } = await revisionAsked(requester, asked, tools);

  const { items, fields } = tools.paginate(features, page);
  const subjects = items.map((live) => subjectOf(live, content ?? contentOf(live.state), asked));
  const at = evalDate === undefined ? states.at : { ...states.at, instant: new Date(evalDate) };
  const landed = items.map((live, index) => ({ ...live, state: subjects[index]?.state ?? live.state }));
  const simulated = simulateFeatures(subjects, {
    ...tools,
    states: readerWith(states, at, landed),
    attributes,
    environments: environment === undefined ? environmentsOf(states).map(({ id }) => id) : [environment],
  });
  const results = items.map(({ id, state }, index) => ({
    featureId: id,
    version: version ?? state.revision.version,
    environments: [...(simulated[index] ?? [])],
  }));
  return { results, ...fields };
}

/** The revision that is to be simulated; without content: the live one. */
async function revisionAsked(
  { organization }: Requester,
  { featureId, version }: Asked,
  { revisions }: SimulationTools,
): Promise<{ readonly version?: number; readonly content?: FeatureContent }> {
  if (version === undefined) return {};
  if (featureId === undefined) throw invalid('A version is that of a feature: send "featureId" beside "version".');
  const revision = await revisions.find<FeatureContent>(organization, featureRevisionKind, featureId, version);
  if (revision === null) throw notFound(`revision of ${quoted(featureId)} with the number`, String(version));
  return { version, content: revision.content };
}

/** A feature as it is simulated: where prerequisites are left out, without them. */
function subjectOf({ id, state }: LiveFeature, content: FeatureContent, asked: Asked): Subject {
  const rules = content.rules.map((stored) => ({ stored, simulated: simulatedRule(stored, asked) }));
  const { revision, nextScheduledUpdate } = state;
  return {
    id,
    rules,
    state: {
      ...content,
      rules: rules.flatMap(({ simulated }) => simulated ?? []),
      prerequisites: asked.scrubPrerequisites ? [] : content.prerequisites,
      revision,
      nextScheduledUpdate,
    },
  };
}

function simulatedRule(
  rule: StoredRule,
  { scrubPrerequisites, skipRulesWithPrerequisites }: Asked,
): SimulatedRule['simulated'] {
  if (!scrubPrerequisites || rule.prerequisites.length === 0) return rule;
  return skipRulesWithPrerequisites ? null : { ...rule, prerequisites: [] };
}

import type { Grouping } from '../record/index.ts';
import type { NamespaceUsers } from '../targeting/index.ts';
import { type FeatureContent, type FeatureState, featureKind } from './feature.ts';

/** Ids of the namespaces in which the feature has rules. */
export const namespacesOf = ({ rules }: FeatureContent): string[] =>
  rules.flatMap((rule) => (rule.type === 'experiment' && rule.namespace?.enabled === true ? rule.namespace.name : []));

/** Features by the namespaces in which they have rules. */
export const byNamespace: Grouping<FeatureState> = { kind: featureKind, groupsOf: namespacesOf };

/**
 * Inline experiments keep their namespace: without its definition their users would be hashed differently, or not be divided
 * at all.
 */
export const namespaceUsers: NamespaceUsers = {
  whyNamespaceStays(states, namespace) {
    const users = states.group(byNamespace, namespace).filter(({ state }) => !state.archived).length;
    if (users === 0) return null;
    return `${users === 1 ? 'a feature has a rule' : `${users} features have rules`} in it`;
  },
};

/**
 * What rules target by: attributes, conditions, saved groups, namespaces; archetypes to try rules out with. Declares the ports
 * `GroupReferences` and `NamespaceUsers`.
 */
export { type ArchetypeService, archetypeReferences, archetypeService } from './archetypes.ts';
export {
  type AttributeState,
  attributeKind,
  attributeReferences,
  attributeService,
  defaultAttributes,
} from './attributes.ts';
export { attributesIn, readCondition } from './condition.ts';
export { conditionIn, groupsNamedIn, listsAskedBy, nestedGroups, withGroupValues } from './condition-groups.ts';
export { isList, isObject } from './json-values.ts';
export {
  admitNamespace,
  compiledNamespace,
  type StoredNamespace,
  shownNamespace,
} from './namespace-value.ts';
export {
  type NamespaceState,
  type NamespaceUsers,
  namespaceKind,
  namespaceService,
} from './namespaces.ts';
export { requireRegistered } from './registered-attributes.ts';
export { archetypeRoutes, namespaceRoutes, targetingRoutes } from './routes.ts';
export { numberOf } from './saved-groups/admit-group.ts';
export type { GroupReferences } from './saved-groups/group-users.ts';
export { deepestNesting, writtenOutLengths } from './saved-groups/nesting.ts';
export { savedGroupReferences } from './saved-groups/references.ts';
export { savedGroupRoutes } from './saved-groups/routes.ts';
export {
  byNamedGroup,
  groupFinder,
  type SavedGroupContent,
  type SavedGroupState,
  savedGroupKind,
} from './saved-groups/saved-group.ts';

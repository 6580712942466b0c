/** What rules target by: attributes, conditions over them, namespaces; archetypes to try rules out with. Declares the port `NamespaceUsers`. */
export { type ArchetypeService, archetypeReferences, archetypeService } from './archetypes.ts';
export {
  type AttributeState,
  attributeKind,
  attributeReferences,
  attributeService,
  defaultAttributes,
} from './attributes.ts';
export { attributesIn, readCondition } from './condition.ts';
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

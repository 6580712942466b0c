/** What rules target by: attributes, conditions over them, namespaces. Declares the port `NamespaceUsers`. */
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
export { namespaceRoutes, targetingRoutes } from './routes.ts';

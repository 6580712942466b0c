/** What rules target by: attributes and conditions over them. */
export {
  type AttributeState,
  attributeKind,
  attributeReferences,
  attributeService,
  defaultAttributes,
} from './attributes.ts';
export { attributesIn, readCondition } from './condition.ts';
export { requireRegistered } from './registered-attributes.ts';
export { targetingRoutes } from './routes.ts';

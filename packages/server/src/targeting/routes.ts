import { deleteAttribute, listAttributes, postAttribute, putAttribute } from '@halyard/contract';
import { bind, type Route } from '../http/index.ts';
import type { AttributeService } from './attributes.ts';

export function targetingRoutes(attributes: AttributeService): Route[] {
  return [
    bind(listAttributes, async (call) => ({ attributes: attributes.list(call, call.query.projectId) })),
    bind(postAttribute, async (call) => ({ attribute: await attributes.create(call) })),
    bind(putAttribute, async (call) => ({ attribute: await attributes.update(call) })),
    bind(deleteAttribute, async (call) => {
      await attributes.delete(call, call.params.property);
      return { deletedProperty: call.params.property };
    }),
  ];
}

import { deleteAttribute, listAttributes, postAttribute, putAttribute } from '@halyard/contract';
import { bind, type Route } from '../http/index.ts';
import type { AttributeService } from './attributes.ts';

export function targetingRoutes(attributes: AttributeService): Route[] {
  return [
    bind(listAttributes, async (call) => ({ attributes: attributes.list(call.requester, call.query.projectId) })),
    bind(postAttribute, async (call) => ({
      attribute: call.landed(await attributes.create(call.requester, call.body)),
    })),
    bind(putAttribute, async (call) => ({
      attribute: call.landed(await attributes.update(call.requester, call.params.property, call.body)),
    })),
    bind(deleteAttribute, async (call) => {
      call.landed(await attributes.delete(call.requester, call.params.property));
      return { deletedProperty: call.params.property };
    }),
  ];
}

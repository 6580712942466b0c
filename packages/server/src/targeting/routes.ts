import {
  deleteArchetype,
  deleteAttribute,
  deleteNamespace,
  getArchetype,
  getNamespace,
  getNamespaceMemberships,
  listArchetypes,
  listAttributes,
  listNamespaces,
  postArchetype,
  postAttribute,
  postNamespace,
  postNamespaceRotateSeed,
  putArchetype,
  putAttribute,
  putNamespace,
} from '@halyard/contract';
import { bind, type Route } from '../http/index.ts';
import type { ArchetypeService } from './archetypes.ts';
import type { AttributeService } from './attributes.ts';
import type { NamespaceService } from './namespaces.ts';

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

export function archetypeRoutes(archetypes: ArchetypeService): Route[] {
  return [
    bind(listArchetypes, async (call) => ({ archetypes: await archetypes.list(call.requester) })),
    bind(postArchetype, async (call) => ({ archetype: await archetypes.create(call.requester, call.body) })),
    bind(getArchetype, async (call) => ({ archetype: await archetypes.get(call.requester, call.params.id) })),
    bind(putArchetype, async (call) => ({
      archetype: await archetypes.update(call.requester, call.params.id, call.body),
    })),
    bind(deleteArchetype, async (call) => {
      await archetypes.delete(call.requester, call.params.id);
      return { deletedId: call.params.id };
    }),
  ];
}

export function namespaceRoutes(namespaces: NamespaceService): Route[] {
  return [
    bind(listNamespaces, async (call) => namespaces.list(call.requester, call.query)),
    bind(postNamespace, async (call) => ({
      namespace: call.landed(await namespaces.create(call.requester, call.body)),
    })),
    bind(getNamespace, async (call) => ({ namespace: namespaces.get(call.requester, call.params.id) })),
    bind(putNamespace, async (call) => ({
      namespace: call.landed(await namespaces.update(call.requester, call.params.id, call.body)),
    })),
    bind(deleteNamespace, async (call) => {
      call.landed(await namespaces.delete(call.requester, call.params.id));
      return { deletedId: call.params.id };
    }),
    bind(getNamespaceMemberships, async (call) => namespaces.memberships(call.requester, call.params.id, call.query)),
    bind(postNamespaceRotateSeed, async (call) => ({
      namespace: call.landed(await namespaces.rotateSeed(call.requester, call.params.id, call.body)),
    })),
  ];
}

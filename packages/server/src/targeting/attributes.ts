import type { Attribute, BodyOf, postAttribute, putAttribute } from '@halyard/contract';
import {
  listsWithout,
  type References,
  registerTags,
  requireProjects,
  seenInProjects,
  seesProject,
} from '../organization/index.ts';
import { invalid, quoted } from '../platform/index.ts';
import { type StateChange, stateKind, type Written } from '../record/index.ts';
import { demand, type Requester } from '../requester/index.ts';
import { type Resource, type ResourceKit, type ResourceService, sent } from '../resources/index.ts';

/** A targeting attribute, known by its property. */
export type AttributeState = Omit<Attribute, 'property'>;

export const attributeKind = stateKind<AttributeState>('attribute');

const attributeResource: Resource<AttributeState> = { kind: attributeKind, auditName: 'attribute' };

export interface AttributeService {
  /** Those that are not archived; of a project that the requester sees, also the organization-wide ones. */
  list(requester: Requester, projectId: string | undefined): Attribute[];
  create(requester: Requester, input: BodyOf<typeof postAttribute>): Promise<Written<Attribute>>;
  update(requester: Requester, property: string, patch: BodyOf<typeof putAttribute>): Promise<Written<Attribute>>;
  delete(requester: Requester, property: string): Promise<Written<null>>;
}

export function attributeService(kit: ResourceKit): AttributeService {
  const attributes: ResourceService<AttributeState, Attribute> = kit({
    ...attributeResource,
    seenIn: ({ state }) => seenInProjects(state.projects),
    show: ({ id, state }) => ({ property: id, ...state }),
    also: (tx, organization, { tags = [] }) => registerTags(tx, organization, tags),
  });
  const demandManaging = (requester: Requester, projects: readonly string[] = []) =>
    demand(requester, 'manageTargetingAttributes', { projects });

  return {
    list(requester, projectId) {
      const visible = attributes.visible(requester).filter(({ state }) => state.archived !== true);
      const ofProject = projectId === undefined || seesProject(requester, projectId);
      return visible
        .filter(({ state }) => ofProject && appliesTo(state, projectId))
        .map((live) => attributes.show(requester, live));
    },
    create: (requester, input) =>
      attributes.create(requester, (states) => {
        const { property, ...fields } = input;
        demandManaging(requester, fields.projects);
        if (states.get(attributeKind, property) !== null) {
          throw invalid(`There is an attribute ${quoted(property)} already, perhaps an archived one.`);
        }
        requireProjects(requester, states, fields.projects ?? []);
        return { id: property, state: fitting(sent(fields) as AttributeState) };
      }),
    update: (requester, property, patch) =>
      attributes.change(requester, property, ({ state }, states) => {
        const changed = { ...state, ...sent(patch) };
        demandManaging(requester, state.projects);
        demandManaging(requester, changed.projects);
        requireProjects(requester, states, changed.projects ?? [], state.projects);
        return fitting(changed);
      }),
    delete: (requester, property) =>
      attributes.remove(requester, property, ({ state }) => {
        demandManaging(requester, state.projects);
        return {};
      }),
  };
}

const appliesTo = ({ projects }: AttributeState, projectId: string | undefined): boolean =>
  projectId === undefined || projects === undefined || projects.length === 0 || projects.includes(projectId);

/** Drops what does not go with the datatype: choices are for text, formats for single texts. */
function fitting({ enum: choices, format, ...state }: AttributeState): AttributeState {
  const hasChoices = ['enum', 'string[]', 'secureString[]'].includes(state.datatype);
  const hasFormat = ['string', 'secureString'].includes(state.datatype);
  return {
    ...state,
    ...(choices !== undefined && hasChoices ? { enum: choices } : {}),
    ...(format !== undefined && hasFormat ? { format } : {}),
  };
}

/** Attributes name projects. */
export const attributeReferences: References = {
  changesOnProjectDeletion: (states, project) => listsWithout(states, attributeResource, project),
};

const text = (id: string): StateChange<AttributeState> => ({ kind: attributeKind, id, state: { datatype: 'string' } });
const choice = (id: string, choices: string): StateChange<AttributeState> => ({
  kind: attributeKind,
  id,
  state: { datatype: 'enum', enum: choices },
});

/** What a new organization can target by from the start: what SDKs fill in by themselves. */
export const defaultAttributes: readonly StateChange<AttributeState>[] = [
  { kind: attributeKind, id: 'id', state: { datatype: 'string', hashAttribute: true } },
  text('url'),
  text('path'),
  text('host'),
  text('query'),
  choice('deviceType', 'desktop,mobile'),
  choice('browser', 'chrome,edge,firefox,safari,unknown'),
  text('utmSource'),
  text('utmMedium'),
  text('utmCampaign'),
  text('utmTerm'),
  text('utmContent'),
];

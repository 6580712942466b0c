import {
  createCustomField,
  deleteCustomField,
  deleteEnvironment,
  deleteProject,
  getCustomField,
  getProject,
  listCustomFields,
  listEnvironments,
  listProjects,
  postEnvironment,
  postProject,
  putEnvironment,
  putProject,
  updateCustomField,
} from '@halyard/contract';
import { bind, type Route } from '../http/index.ts';
import type { CustomFieldService } from './custom-fields.ts';
import type { EnvironmentService } from './environments.ts';
import type { ProjectService } from './projects.ts';

export function organizationRoutes(services: {
  projects: ProjectService;
  environments: EnvironmentService;
  customFields: CustomFieldService;
}): Route[] {
  const { projects, environments, customFields } = services;
  return [
    bind(listProjects, async (call) => projects.list(call.requester, call.query)),
    bind(getProject, async (call) => ({ project: projects.get(call.requester, call.params.id) })),
    bind(postProject, async (call) => ({ project: call.landed(await projects.create(call.requester, call.body)) })),
    bind(putProject, async (call) => ({
      project: call.landed(await projects.update(call.requester, call.params.id, call.body)),
    })),
    bind(deleteProject, async (call) => {
      call.landed(await projects.delete(call.requester, call.params.id));
      return { deletedId: call.params.id };
    }),

    bind(listEnvironments, async (call) => ({ environments: environments.list(call.requester) })),
    bind(postEnvironment, async (call) => ({
      environment: call.landed(await environments.create(call.requester, call.body)),
    })),
    bind(putEnvironment, async (call) => ({
      environment: call.landed(await environments.update(call.requester, call.params.id, call.body)),
    })),
    bind(deleteEnvironment, async (call) => {
      call.landed(await environments.delete(call.requester, call.params.id));
      return { deletedId: call.params.id };
    }),

    bind(listCustomFields, async (call) => customFields.list(call.requester, call.query)),
    bind(createCustomField, async (call) => ({
      customField: call.landed(await customFields.create(call.requester, call.body)),
    })),
    bind(getCustomField, async (call) => ({ customField: customFields.get(call.requester, call.params.id) })),
    bind(updateCustomField, async (call) => ({
      customField: call.landed(await customFields.update(call.requester, call.params.id, call.body)),
    })),
    bind(deleteCustomField, async (call) => {
      call.landed(await customFields.delete(call.requester, call.params.id));
      return { deletedId: call.params.id };
    }),
  ];
}

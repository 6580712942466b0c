import { getCodeRefs, listCodeRefs, postCodeRefs } from '@halyard/contract';
import { bind, type Route } from '../../http/index.ts';
import type { CodeReferenceService } from './code-references.ts';

export function codeReferenceRoutes(references: CodeReferenceService): Route[] {
  return [
    bind(listCodeRefs, ({ requester, query }) => references.list(requester, query)),
    bind(postCodeRefs, async ({ requester, query, body }) => ({
      featuresUpdated: await references.upload(requester, body, query.deleteMissing),
    })),
    bind(getCodeRefs, async ({ requester, params }) => ({
      codeRefs: await references.ofFeature(requester, params.id),
    })),
  ];
}

import { z } from 'zod';
import { booleanText, idParams, pageOf, pageQuery, timestamp } from './common.ts';
import { operation } from './operation.ts';

/** A place in source code that names a feature. */
const codeReference = {
  filePath: z.string(),
  startingLineNumber: z.int(),
  lines: z.string(),
  flagKey: z.string(),
};

/** Every place in one branch of a repository that names a feature. */
export const codeRef = z
  .strictObject({
    /** The organization's name. */
    organization: z.string(),
    dateUpdated: timestamp,
    feature: z.string(),
    repo: z.string(),
    branch: z.string(),
    platform: z.enum(['github', 'gitlab', 'bitbucket']).optional(),
    refs: z.array(z.strictObject(codeReference)),
  })
  .meta({ id: 'CodeRef' });
export type CodeRef = z.output<typeof codeRef>;

const path = '/v1/code-refs';
const tag = 'code-references';
const name = z.string().min(1, 'must not be empty').max(255);

export const listCodeRefs = operation({
  id: 'listCodeRefs',
  method: 'GET',
  path,
  tag,
  summary: 'List where features are named in source code, by repository, branch and feature',
  permission: 'readData',
  query: z.strictObject(pageQuery),
  response: pageOf('codeRefs', codeRef),
});

export const postCodeRefs = operation({
  id: 'postCodeRefs',
  method: 'POST',
  path,
  tag,
  summary: 'Upload where features are named in one branch of a repository',
  description:
    'The places of each feature replace those that were known. With `deleteMissing`, features that the upload does not name have none ' +
    'there any more. Either all is stored or nothing.',
  permission: ['editFeatureDrafts', 'createFeatures'],
  query: z.strictObject({ deleteMissing: booleanText.default(false) }),
  body: z.strictObject({
    branch: name,
    repoName: name,
    refs: z.array(
      z.strictObject({
        ...codeReference,
        filePath: z.string().max(4096),
        flagKey: z.string().min(1, 'must not be empty').max(256),
        /** Kept for the tool that uploads; not shown. */
        contentHash: z.string().max(256),
      }),
    ),
  }),
  response: z.strictObject({ featuresUpdated: z.array(z.string()) }),
});

export const getCodeRefs = operation({
  id: 'getCodeRefs',
  method: 'GET',
  path: `${path}/{id}`,
  tag,
  summary: 'List where a feature is named, in every repository and branch',
  permission: 'readData',
  params: idParams,
  response: z.strictObject({ codeRefs: z.array(codeRef) }),
  errors: [404],
});

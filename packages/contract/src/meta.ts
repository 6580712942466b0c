import { z } from 'zod';
import { operation } from './operation.ts';

export const getVersion = operation({
  id: 'getVersion',
  method: 'GET',
  path: '/v1/version',
  tag: 'meta',
  summary: 'Version and commit of the running build',
  permission: 'anyCredential',
  response: z.strictObject({ version: z.string(), commit: z.string(), date: z.string() }),
});

import { z } from 'zod';
import { timestamp } from './common.ts';

/** What every webhook, of whatever kind, tells of one attempt to reach it. */
export const deliveryFields = {
  id: z.string(),
  url: z.string(),
  method: z.string(),
  result: z.enum(['success', 'error']),
  /** Status of the answer; null: there was none. */
  responseCode: z.int().nullable(),
  /** The beginning of the answer; where there was none, why. */
  responseBody: z.string(),
  dateCreated: timestamp,
};

/** An http(s) address, which may hold placeholders such as `{{ NAME }}` behind the host. */
export const webhookUrl = z.string().min(1).max(2048);

export const webhookHeaders = z
  .record(z.string().max(256), z.string().max(4096))
  .refine((headers) => Object.keys(headers).length <= 50, 'must be at most 50 headers');

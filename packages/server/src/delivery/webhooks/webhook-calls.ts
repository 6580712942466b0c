import { invalid, type Outcome, type Outgoing, objectionToHeaders } from '../../platform/index.ts';
import { fillPlaceholders, hasPlaceholders, hidesItsHost, type Template, withoutPlaceholders } from './placeholders.ts';
import type { WebhookSecrets } from './webhook-secrets.ts';

/** One request to a webhook. */
interface WebhookCall extends Template {
  readonly organization: string;
  readonly method: string;
  /** Headers of the message itself; those that are configured cannot take their place. */
  readonly own: Readonly<Record<string, string>>;
  /** Absent: none. */
  readonly body?: string;
}

/** How it went, as histories keep it. */
export interface WebhookResult {
  readonly succeeded: boolean;
  /** Null: there was no answer. */
  readonly status: number | null;
  /** The beginning of the answer, or why there was none. */
  readonly text: string;
}

export interface WebhookCalls {
  /** @throws Refusal (invalid) where an address or headers cannot be those of a webhook */
  check(field: string, template: Template): void;
  call(call: WebhookCall): Promise<WebhookResult>;
}

export function webhookCalls({ outgoing, secrets }: { outgoing: Outgoing; secrets: WebhookSecrets }): WebhookCalls {
  return {
    check(field, { url, headers }) {
      if (hidesItsHost(url)) throw invalid(`${field}: placeholders may stand behind the host only.`);
      const objection = outgoing.objectionTo(withoutPlaceholders(url));
      if (objection !== null) throw invalid(`${field}: ${objection}`);
      const wrongHeader = objectionToHeaders(headers);
      if (wrongHeader !== null) throw invalid(`headers: ${wrongHeader}`);
    },
    async call({ organization, method, own, body, ...template }) {
      const known = hasPlaceholders(template) ? await secrets.open(organization) : [];
      const { url, headers } = fillPlaceholders(template, known);
      return resultOf(
        await outgoing.send({ url, method, headers: joined(headers, own), ...(body === undefined ? {} : { body }) }),
      );
    },
  };
}

/** Configured headers, then those of the message. */
export function joined(configured: Readonly<Record<string, string>>, own: Readonly<Record<string, string>>): Headers {
  const headers = new Headers(configured);
  for (const [name, value] of Object.entries(own)) headers.set(name, value);
  return headers;
}

/** Any 2xx is a success. */
export const resultOf = (outcome: Outcome): WebhookResult =>
  outcome.answered
    ? { succeeded: outcome.status >= 200 && outcome.status < 300, status: outcome.status, text: outcome.text }
    : { succeeded: false, status: null, text: outcome.reason };

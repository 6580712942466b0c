import type { BodyOf, postWebhookSecret, putWebhookSecret, WebhookSecret } from '@halyard/contract';
import { invalid, type NewId, quoted, type SecretTexts } from '../../platform/index.ts';
import { type Plain, plainKind } from '../../record/index.ts';
import { demand, type Requester } from '../../requester/index.ts';
import { type PlainKit, sent } from '../../resources/index.ts';
import type { OpenSecret } from './placeholders.ts';

interface SecretState {
  readonly key: string;
  readonly description: string;
  readonly allowedOrigins: readonly string[];
  /** Encrypted. */
  readonly value: string;
}

const secretKind = plainKind<SecretState>('webhook-secret', 'webhook secret');

/** Secrets that webhooks carry in their addresses and headers without anybody who reads those learning them. */
export interface WebhookSecrets {
  list(requester: Requester): Promise<WebhookSecret[]>;
  get(requester: Requester, id: string): Promise<WebhookSecret>;
  create(requester: Requester, input: BodyOf<typeof postWebhookSecret>): Promise<WebhookSecret>;
  update(requester: Requester, id: string, patch: BodyOf<typeof putWebhookSecret>): Promise<WebhookSecret>;
  delete(requester: Requester, id: string): Promise<void>;
  /** All of an organization, with their values. */
  open(organization: string): Promise<OpenSecret[]>;
}

export function webhookSecrets(kit: PlainKit, { newId, texts }: { newId: NewId; texts: SecretTexts }): WebhookSecrets {
  const secrets = kit<SecretState>({
    kind: secretKind,
    auditName: 'webhookSecret',
    name: ({ key }) => key,
    secrets: ['value'],
  });
  const place = (organization: string, id: string) => `webhook-secret ${organization} ${id}`;
  const demandManaging = (requester: Requester) => demand(requester, 'manageEventWebhooks', { projects: [] });

  return {
    async list(requester) {
      demandManaging(requester);
      return (await secrets.all(requester.organization)).map(show);
    },
    async get(requester, id) {
      const secret = await secrets.find(requester.organization, id);
      demandManaging(requester);
      return show(secret);
    },
    async create(requester, input) {
      demandManaging(requester);
      const { organization } = requester;
      const { key, value, description = '', allowedOrigins = [] } = input;
      const secret = await secrets.create(requester, (others) => {
        requireFree(key, others);
        const id = newId('whs_');
        const encrypted = texts.encrypt(value, place(organization, id));
        return { id, state: { key, description, allowedOrigins: allowedOrigins.map(originOf), value: encrypted } };
      });
      return show(secret);
    },
    async update(requester, wanted, patch) {
      const { organization } = requester;
      const { value, allowedOrigins, ...fields } = patch;
      const secret = await secrets.change(requester, wanted, ({ id, state }, others) => {
        demandManaging(requester);
        if (fields.key !== undefined) requireFree(fields.key, others);
        const at = place(organization, id);
        const same = value === undefined || value === texts.decrypt(state.value, at);
        return {
          ...state,
          ...sent(fields),
          ...(allowedOrigins === undefined ? {} : { allowedOrigins: allowedOrigins.map(originOf) }),
          ...(same ? {} : { value: texts.encrypt(value, at) }),
        };
      });
      return show(secret);
    },
    delete: (requester, id) => secrets.remove(requester, id, () => demandManaging(requester)),
    async open(organization) {
      const all = await secrets.all(organization);
      return all.map(({ id, state }) => ({ ...state, value: texts.decrypt(state.value, place(organization, id)) }));
    },
  };
}

const show = ({ id, state, dateCreated, dateUpdated }: Plain<SecretState>): WebhookSecret => ({
  id,
  key: state.key,
  description: state.description,
  allowedOrigins: [...state.allowedOrigins],
  dateCreated: dateCreated.toISOString(),
  dateUpdated: dateUpdated.toISOString(),
});

function requireFree(key: string, others: readonly Plain<SecretState>[]): void {
  if (others.some(({ state }) => state.key === key))
    throw invalid(`There is a webhook secret ${quoted(key)} already. Choose another key.`);
}

function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol) || `${url.origin}/` !== url.href) {
    throw invalid(
      `allowedOrigins: ${quoted(text)} is no origin. Send scheme and host only, such as https://example.com.`,
    );
  }
  return url.origin;
}

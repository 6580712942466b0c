import { inParts, type NewId, type Tx } from '../platform/index.ts';
import type { Actor } from './actor.ts';

/** What an entry of the audit log says, beside who and when. */
export interface AuditEntry {
  /** `<entity>.<action>`. */
  readonly event: string;
  readonly entity: { readonly object: string; readonly id: string; readonly name?: string };
  readonly reason?: string;
  /** The object before and after; never with secrets in it. */
  readonly pre?: object;
  readonly post?: object;
  readonly context?: object;
}

const longestDetails = 1_000_000;

/** Writes the entries; when they cannot be written, neither can what they tell of. */
export async function writeAudit(
  tx: Tx,
  newId: NewId,
  organization: string,
  actor: Actor,
  instant: Date,
  entries: readonly AuditEntry[],
): Promise<void> {
  const rows = entries.map((entry) => ({
    id: newId('aud_'),
    organization,
    actor: JSON.stringify(actor),
    event: entry.event,
    entity_kind: entry.entity.object,
    entity_id: entry.entity.id,
    entity_name: entry.entity.name ?? null,
    reason: entry.reason ?? null,
    details: detailsText(entry),
    date_created: instant,
  }));
  for (const some of inParts(rows)) await tx.insertInto('audit').values(some).execute();
}

function detailsText({ pre, post, context }: AuditEntry): string | null {
  if (pre === undefined && post === undefined && context === undefined) return null;
  const whole = JSON.stringify({ pre, post, context });
  if (whole.length <= longestDetails) return whole;
  return JSON.stringify({ ...changedKeys(pre, post), context, truncated: true });
}

/** The top-level keys that differ, with values that are long themselves cut down to their length. */
function changedKeys(pre: object = {}, post: object = {}): { pre: object; post: object } {
  const old = pre as Record<string, unknown>;
  const fresh = post as Record<string, unknown>;
  const keys = Object.keys({ ...old, ...fresh }).filter(
    (key) => JSON.stringify(old[key]) !== JSON.stringify(fresh[key]),
  );
  const cut = (from: Record<string, unknown>) =>
    Object.fromEntries(
      keys
        .filter((key) => key in from)
        .map((key) => {
          const text = JSON.stringify(from[key]) ?? '';
          return [key, text.length > 10_000 ? `(${text.length} characters)` : from[key]];
        }),
    );
  return { pre: cut(old), post: cut(fresh) };
}

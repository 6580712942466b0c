import { type EntitlementName, forbidden } from '../platform/index.ts';

/** Which commercial features this installation has on. Only beginning or enlarging their use is asked about. */
export interface Entitlements {
  /** @throws Refusal (forbidden) naming the one that is off */
  require(entitlement: EntitlementName): void;
}

/** @param granted the setting `ENTITLEMENTS` */
export function entitlements(granted: readonly EntitlementName[] | 'all'): Entitlements {
  return {
    require(entitlement) {
      if (granted === 'all' || granted.includes(entitlement)) return;
      throw forbidden(
        `This needs the feature ${entitlement}, which is switched off on this installation (setting ENTITLEMENTS).`,
        { body: { details: { reason: 'entitlement_required', entitlement } } },
      );
    },
  };
}

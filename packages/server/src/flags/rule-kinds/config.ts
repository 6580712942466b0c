import { invalid, quoted } from '../../platform/index.ts';

/** A value may extend a config only on a feature that is backed by one, and no feature can be yet. */
export function refuseConfig(config: string | null | undefined, place: string): void {
  if (config !== undefined && config !== null) {
    throw invalid(`${place} names the unknown config ${quoted(config)}: the feature is not backed by a config.`);
  }
}

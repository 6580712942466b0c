import type { ScheduleRule } from '@halyard/contract';
import { invalid } from '../platform/index.ts';

const exactInstant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/** @throws Refusal (invalid) when the entries are not a start and an end of a rule */
export function checkSchedule(entries: readonly ScheduleRule[], place: string): void {
  if (entries.length === 0) return;
  const problem = scheduleProblem(entries);
  if (problem !== null) throw invalid(`The scheduleRules of ${place} ${problem}.`);
}

function scheduleProblem(entries: readonly ScheduleRule[]): string | null {
  const [first, second] = entries;
  if (entries.length !== 2 || first === undefined || second === undefined) {
    return 'must be two entries, one that switches the rule on and one that switches it off, or none';
  }
  if (first.enabled === second.enabled) return 'must switch the rule on once and off once';
  const given = entries.flatMap(({ timestamp }) => timestamp ?? []);
  if (given.length === 0) return 'must have at least one timestamp';
  if (!given.every((timestamp) => exactInstant.test(timestamp) && !Number.isNaN(Date.parse(timestamp)))) {
    return 'must have timestamps in UTC with milliseconds, such as 2026-01-31T09:00:00.000Z';
  }
  return null;
}

const boundaries = (entries: readonly ScheduleRule[]) =>
  entries
    .flatMap(({ timestamp, enabled }) => (timestamp === null ? [] : [{ at: Date.parse(timestamp), enabled }]))
    .sort((a, b) => a.at - b.at);

/** Whether a schedule has its rule on at that instant: the last boundary that has passed decides. */
export function isScheduledOn(entries: readonly ScheduleRule[], instant: Date): boolean {
  const sorted = boundaries(entries);
  const [first] = sorted;
  if (first === undefined) return true;
  const passed = sorted.findLast(({ at }) => at <= instant.getTime());
  return passed === undefined ? !first.enabled : passed.enabled;
}

/** The earliest boundary of these rules after that instant; null: there is none. */
export function nextBoundary(
  rules: readonly { readonly scheduleRules: readonly ScheduleRule[] }[],
  instant: Date,
): string | null {
  const ahead = rules
    .flatMap((rule) => boundaries(rule.scheduleRules))
    .map(({ at }) => at)
    .filter((at) => at > instant.getTime());
  return ahead.length === 0 ? null : new Date(Math.min(...ahead)).toISOString();
}

import { readFileSync } from 'node:fs';

/** What a process holds of the machine's memory: its resident set. */
export function residentMegabytes(processId: number): number {
  const status = readFileSync(`/proc/${processId}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

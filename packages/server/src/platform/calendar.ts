/** Whether the calendar has that day, such as 2026-01-31: `Date` takes the 30th of February for the 2nd of March. */
export function isCalendarDay(day: string): boolean {
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}

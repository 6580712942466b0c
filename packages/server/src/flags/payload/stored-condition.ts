import type { Condition } from '@halyard/evaluation';

/** Holds for nobody: it asks for a member that no object has. */
const holdsForNobody: Condition = { __unreadable__: true };

/** A condition as it is stored. Text of old that cannot be read must let nobody in. */
export function storedCondition(text: string): Condition {
  try {
    return JSON.parse(text) as Condition;
  } catch {
    return holdsForNobody;
  }
}

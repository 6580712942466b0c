import type { Prerequisite } from '@halyard/contract';
import { type Condition, evaluateCondition, type JsonValue } from '@halyard/evaluation';
import { storedCondition } from './stored-condition.ts';

/** A feature that others may require, as it is delivered here. */
export interface Required {
  readonly prerequisites: readonly Prerequisite[];
  /** An enabled rule applies here, whatever its schedule says at the moment. */
  readonly hasRules: boolean;
  readonly defaultValue: JsonValue;
}

/** A prerequisite whose condition has been read. */
export interface ReadPrerequisite {
  readonly id: string;
  readonly condition: Condition;
}

export interface PrerequisiteJudge {
  /**
   * What is left of prerequisites once those are gone that hold for everyone.
   *
   * @returns null when one of them can never hold, or they go in a circle
   */
  reduce(prerequisites: readonly Prerequisite[]): ReadPrerequisite[] | null;
}

/** What can be said of a feature's value before any user is known. */
type Outlook =
  | { readonly kind: 'certain'; readonly value: JsonValue }
  | { readonly kind: 'conditional' }
  | { readonly kind: 'cyclic' };

/** A feature that is not there, or that its own prerequisites block for everyone, is null to those that require it. */
const absent: Outlook = { kind: 'certain', value: null };
const conditional: Outlook = { kind: 'conditional' };
const cyclic: Outlook = { kind: 'cyclic' };

/** A feature on the way of requirements that is being walked. */
interface Step {
  readonly id: string;
  readonly feature: Required;
  next: number;
  conditional: boolean;
}

/** @param find the feature as it is delivered here; null: it is not */
export function prerequisiteJudge(find: (id: string) => Required | null): PrerequisiteJudge {
  const outlooks = new Map<string, Outlook>();

  /** Walks the requirements below a feature without recursion: however long the chain, it must not exhaust the stack. */
  const outlookOf = (id: string): Outlook => {
    const way: Step[] = [];
    const onWay = new Set<string>();
    const enter = (entered: string): void => {
      const feature = find(entered);
      if (feature === null) {
        outlooks.set(entered, absent);
        return;
      }
      way.push({ id: entered, feature, next: 0, conditional: feature.hasRules });
      onWay.add(entered);
    };
    const leave = (step: Step, outlook: Outlook): void => {
      outlooks.set(step.id, outlook);
      onWay.delete(step.id);
      way.pop();
    };

    if (!outlooks.has(id)) enter(id);
    for (let step = way.at(-1); step !== undefined; step = way.at(-1)) {
      const prerequisite = step.feature.prerequisites[step.next];
      if (prerequisite === undefined) {
        leave(step, step.conditional ? conditional : { kind: 'certain', value: step.feature.defaultValue });
        continue;
      }
      const required = onWay.has(prerequisite.id) ? cyclic : outlooks.get(prerequisite.id);
      if (required === undefined) {
        enter(prerequisite.id);
        continue;
      }
      step.next++;
      if (required.kind === 'cyclic') leave(step, cyclic);
      else if (required.kind === 'conditional') step.conditional = true;
      else if (find(prerequisite.id) === null || !holds(prerequisite, required.value)) leave(step, absent);
    }
    return outlooks.get(id) ?? absent;
  };

  return {
    reduce(prerequisites) {
      const open: ReadPrerequisite[] = [];
      for (const prerequisite of prerequisites) {
        if (find(prerequisite.id) === null) return null;
        const outlook = outlookOf(prerequisite.id);
        if (outlook.kind === 'cyclic') return null;
        if (outlook.kind === 'conditional') {
          open.push({ id: prerequisite.id, condition: storedCondition(prerequisite.condition) });
        } else if (!holds(prerequisite, outlook.value)) {
          return null;
        }
      }
      return open;
    },
  };
}

const holds = ({ condition }: Prerequisite, value: JsonValue): boolean =>
  evaluateCondition({ value }, storedCondition(condition));

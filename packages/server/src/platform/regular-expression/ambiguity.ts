import type { Automaton, Label, Span } from './automaton.ts';
import type { Effort } from './bounds.ts';
import { intersection, sampleOf } from './code-points.ts';

/*
 * A backtracking engine needs exponential time where the automaton is exponentially ambiguous. That is so exactly if a
 * state can be left and reached again on two different paths that read the same word (criterion EDA: A. Weber, H. Seidl,
 * "On the degree of ambiguity of finite automata", Theoretical Computer Science 88, 1991; tested in the product of the
 * automaton with itself after C. Allauzen, M. Mohri, A. Rastogi, "General algorithms for testing the ambiguity of finite
 * automata", 2008): n repetitions of the word then have 2^n paths. Such a pair of paths stays inside one strongly
 * connected component; once the two paths have met in any state of it, they can both go on to where they began.
 */

export interface Ambiguity {
  /** A text that two different paths read, from the same state to the same state of a cycle. */
  readonly example: string;
}

/** Looks for exponential ambiguity; with `within`, only in the repeats inside that part of the pattern. */
export function findExponentialAmbiguity(automaton: Automaton, effort: Effort, within?: Span): Ambiguity | undefined {
  const { labels } = automaton;
  const { choices, choiceOf } = cyclicChoicesOf(automaton, effort, within);
  const haveCommonCharacter = intersectionTestOf(labels, effort);
  const reached = new Set<number>();
  const pending: Divergence[] = [];

  /** Takes both paths one character further; returns where they meet. */
  function follow(lefts: Choice, rights: Choice, from: Divergence['from']): Divergence | undefined {
    effort.spend(STEPS_PER_PAIR);
    for (const { label: leftLabel, positions: leftPositions } of lefts.byLabel) {
      for (const { label: rightLabel, positions: rightPositions } of rights.byLabel) {
        if (!haveCommonCharacter(leftLabel, rightLabel)) continue;
        effort.spend(leftPositions.length * rightPositions.length);
        for (const left of leftPositions) {
          for (const right of rightPositions) {
            if (left === right && lefts === rights) continue;
            // Positions with one choice between them, such as both `a` of `(a|a)*`, meet whatever they choose.
            if (choiceOf[left] === choiceOf[right]) return { left, right, from };
            const pair = orderedPair(choiceOf[left]!, choiceOf[right]!, choices.length);
            if (reached.has(pair)) continue;
            reached.add(pair);
            pending.push({ left, right, from });
          }
        }
      }
    }
    return undefined;
  }

  for (const choice of choices) {
    const twice = firstRepeated(choice.targets);
    const meeting = twice === undefined ? follow(choice, choice, choice) : { left: twice, right: twice, from: choice };
    if (meeting !== undefined) return { example: exampleOf(labels, meeting) };
  }
  for (const divergence of pending) {
    const [left, right] = [choiceOf[divergence.left]!, choiceOf[divergence.right]!];
    const meeting = follow(choices[left]!, choices[right]!, divergence);
    if (meeting !== undefined) return { example: exampleOf(labels, meeting) };
  }
  return undefined;
}

/** Following a pair costs about as much as so many comparisons. */
const STEPS_PER_PAIR = 10;

/** Positions reached by the same text, and how: from a pair before them or from a choice that two paths share. */
interface Divergence {
  readonly left: number;
  readonly right: number;
  readonly from: Divergence | Choice;
}

/** What may follow a position without leaving the cycles it is on; the same for the ends of all words in a loop. */
interface Choice {
  /** One of the positions that have this choice. */
  readonly source: number;
  readonly targets: readonly number[];
  readonly byLabel: readonly { readonly label: number; readonly positions: readonly number[] }[];
}

function cyclicChoicesOf({ labels, bundles, followers }: Automaton, effort: Effort, within: Span | undefined) {
  const isAllowed = bundles.map(({ origin }) => within === undefined || isWithin(origin, within));
  const sets = new Map<string, { index: number; targets: number[] }>();
  const setOf = followers.map((all) => {
    const allowed = all.filter((bundle) => isAllowed[bundle]);
    effort.spend(all.length);
    const key = allowed.join();
    let set = sets.get(key);
    if (set === undefined) {
      set = { index: sets.size, targets: allowed.flatMap((bundle) => bundles[bundle]!.targets) };
      effort.spend(STEPS_PER_CHOICE + set.targets.length);
      sets.set(key, set);
    }
    return set.index;
  });
  // States of the graph are the positions and, after them, the sets, which saves an edge for each pair they connect.
  const graph = [...setOf.map((set) => [labels.length + set]), ...[...sets.values()].map(({ targets }) => targets)];
  const component = stronglyConnectedComponents(graph);
  const sources = new Map<number, number>();
  for (const [position, set] of setOf.entries()) {
    if (component[position] === component[labels.length + set]) sources.set(set, position);
  }
  const choices = [...sets.values()].map(({ index, targets: all }): Choice => {
    const targets = all.filter((target) => component[target] === component[labels.length + index]);
    const byLabel = [...Map.groupBy(targets, (target) => labels[target]!.id)];
    return {
      source: sources.get(index) ?? -1,
      targets,
      byLabel: byLabel.map(([label, positions]) => ({ label, positions })),
    };
  });
  return { choices, choiceOf: setOf };
}

/** Collecting what follows a position costs about as much as so many comparisons. */
const STEPS_PER_CHOICE = 20;

function isWithin(part: Span, whole: Span): boolean {
  return part.start >= whole.start && part.end <= whole.end;
}

function orderedPair(a: number, b: number, count: number): number {
  return Math.min(a, b) * count + Math.max(a, b);
}

function firstRepeated(positions: readonly number[]): number | undefined {
  const seen = new Set<number>();
  return positions.find((position) => seen.size === seen.add(position).size);
}

/** Whether labels, by id, have a character in common. */
function intersectionTestOf(labels: readonly Label[], effort: Effort): (a: number, b: number) => boolean {
  const codePointsOf = new Map(labels.map(({ id, codePoints }) => [id, codePoints]));
  const known: (boolean | undefined)[][] = [];
  return (a, b) => {
    if (a === b) return true;
    effort.spend(1);
    const row = (known[a] ??= []);
    let answer = row[b];
    if (answer === undefined) {
      const [left, right] = [codePointsOf.get(a)!, codePointsOf.get(b)!];
      effort.spend(left.length + right.length);
      answer = intersection(left, right).length > 0;
      row[b] = answer;
    }
    return answer;
  };
}

function exampleOf(labels: readonly Label[], meeting: Divergence): string {
  let example = '';
  for (let step: Divergence | Choice = meeting; ; step = step.from) {
    if ('source' in step) return sampleOf(labels[step.source]!.codePoints) + example;
    example = sampleOf(intersection(labels[step.left]!.codePoints, labels[step.right]!.codePoints)) + example;
  }
}

/** Numbers the components, after S. R. Kosaraju; iterative, because a literal of a thousand letters is a path as long. */
function stronglyConnectedComponents(successors: readonly (readonly number[])[]): number[] {
  const predecessors: number[][] = successors.map(() => []);
  for (const [from, targets] of successors.entries()) for (const to of targets) predecessors[to]!.push(from);

  const component: number[] = successors.map(() => -1);
  for (const root of finishingOrder(successors).toReversed()) {
    if (component[root] !== -1) continue;
    component[root] = root;
    const pending = [root];
    for (let state = pending.pop(); state !== undefined; state = pending.pop()) {
      for (const previous of predecessors[state]!) {
        if (component[previous] !== -1) continue;
        component[previous] = root;
        pending.push(previous);
      }
    }
  }
  return component;
}

/** The states in the order in which a depth-first search is done with them. */
function finishingOrder(successors: readonly (readonly number[])[]): number[] {
  const visited = successors.map(() => false);
  const finished: number[] = [];
  for (const root of successors.keys()) {
    if (visited[root]) continue;
    visited[root] = true;
    const path = [{ state: root, next: 0 }];
    for (let step = path.at(-1); step !== undefined; step = path.at(-1)) {
      const successor = successors[step.state]![step.next++];
      if (successor === undefined) {
        finished.push(step.state);
        path.pop();
      } else if (!visited[successor]) {
        visited[successor] = true;
        path.push({ state: successor, next: 0 });
      }
    }
  }
  return finished;
}

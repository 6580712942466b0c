import { simulateArchetype } from '@halyard/contract';
import { bind, type Route } from '../../http/index.ts';
import { type SimulationTools, simulate } from './simulate.ts';

export function simulationRoutes(tools: SimulationTools): Route[] {
  return [
    bind(simulateArchetype, ({ requester, params, body, query }) => simulate(requester, params.id, body, query, tools)),
  ];
}

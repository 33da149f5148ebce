/**
 * What once went wrong, staged: members, limits and faults are fixed, and each step waits for what it needs,
 * so that a change of the random workload moves nothing. The bug that a scenario is about is planted again
 * by the canary of the same name, which shows that the scenario still finds it.
 */
import type { Scenario } from './scenario.js';
import { memberScenarios } from './scenarios-members.js';
import { readScenarios } from './scenarios-reads.js';
import { recordScenarios } from './scenarios-records.js';

export const scenarios: readonly Scenario[] = [
  ...memberScenarios,
  ...readScenarios,
  ...recordScenarios,
];

export function scenarioOf(name: string): Scenario {
  const scenario = scenarios.find((one) => one.name === name);
  if (!scenario) throw new RangeError(`no scenario ${name}`);
  return scenario;
}

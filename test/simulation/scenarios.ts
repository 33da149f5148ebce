/**
 * Past bugs as scenarios: members, limits and faults are fixed, and each step waits for its
 * condition, so that a change of the random workload has no effect. The canary of the same name
 * plants the bug of a scenario again, which shows that the scenario still finds it.
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

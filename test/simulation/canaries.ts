/**
 * All planted bugs. A bug that the simulation does not find shows that the simulation is too weak.
 */
import { coreCanaries } from './canaries-core.js';
import { logCanaries } from './canaries-log.js';
import { memberCanaries } from './canaries-members.js';
import { readCanaries } from './canaries-reads.js';
import { scenarioCanaries } from './canaries-scenarios.js';
import { storeCanaries } from './canaries-store.js';
import { watchCanaries } from './canaries-watch.js';
import type { Canary } from './planted-bug.js';

export const canaries: readonly Canary[] = [
  ...coreCanaries,
  ...readCanaries,
  ...memberCanaries,
  ...logCanaries,
  ...storeCanaries,
  ...watchCanaries,
  ...scenarioCanaries,
];

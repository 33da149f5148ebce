/** The definition of the scheduler, for a process of its own and for `orch-components`. */
import type { ComponentDefinition } from '@orch/component';
import { SchedulerOptions } from './scheduler-options.js';
import { startScheduler } from './start-scheduler.js';

export const scheduler: ComponentDefinition<SchedulerOptions> = {
  program: 'orch-scheduler',
  component: 'scheduler',
  description: 'Assigns pods to nodes.',
  optionsClass: SchedulerOptions,
  start: startScheduler,
};

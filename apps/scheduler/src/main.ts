/** Entry of the scheduler process. */
import { runComponent } from '@orch/component';
import { SchedulerOptions } from './scheduler-options.js';
import { startScheduler } from './start-scheduler.js';

await runComponent({
  program: 'orch-scheduler',
  component: 'scheduler',
  description: 'Assigns pods to nodes.',
  optionsClass: SchedulerOptions,
  start: startScheduler,
});

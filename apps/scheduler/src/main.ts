/** Entry of the scheduler process. */
import { runComponent } from '@orch/component';
import { scheduler } from './component.js';

await runComponent(scheduler);

/** Entry of the controller manager process. */
import { runComponent } from '@orch/component';
import { controllerManager } from './component.js';

await runComponent(controllerManager);

/** Entry of the service proxy process. */
import { runComponent } from '@orch/component';
import { proxy } from './component.js';

await runComponent(proxy);

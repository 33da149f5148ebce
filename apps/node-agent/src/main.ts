/** Entry of the node agent process. */
import { runComponent } from '@orch/component';
import { nodeAgent } from './component.js';

await runComponent(nodeAgent);

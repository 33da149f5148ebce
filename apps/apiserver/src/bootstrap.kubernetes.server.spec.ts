import { selectDialect } from '@orch/component';
import { describeBootstrapObjects } from './testing/bootstrap-objects.js';

selectDialect('kubernetes');
describeBootstrapObjects();

import { describeBootstrapObjects } from './testing/bootstrap-objects.js';

describeBootstrapObjects();

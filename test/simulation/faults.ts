/** All kinds of faults except the weather. */
import type { Fault } from './fault-context.js';
import { diskFaults } from './faults-disk.js';
import { memberFaults } from './faults-members.js';
import { momentFaults } from './faults-moments.js';
import { networkFaults } from './faults-network.js';
import { processFaults } from './faults-process.js';
import { weather } from './weather.js';

export const faults: Readonly<Record<string, Fault>> = {
  ...processFaults,
  ...networkFaults,
  ...diskFaults,
  ...memberFaults,
  ...momentFaults,
};

export const faultNames = [...Object.keys(faults), ...Object.keys(weather)];

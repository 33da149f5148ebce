/** All kinds of faults but the weather. Each tells whether it has come about: it may have no place now. */
import type { FaultInjector } from './fault-injector.js';
import { diskFaults } from './faults-disk.js';
import { memberFaults } from './faults-members.js';
import { momentFaults } from './faults-moments.js';
import { networkFaults } from './faults-network.js';
import { processFaults } from './faults-process.js';
import { weather } from './weather.js';

export type Fault = (all: FaultInjector) => boolean;

export const faults: Readonly<Record<string, Fault>> = {
  ...processFaults,
  ...networkFaults,
  ...diskFaults,
  ...memberFaults,
  ...momentFaults,
};

export const faultNames = [...Object.keys(faults), ...Object.keys(weather)];

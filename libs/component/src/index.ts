export { type Clock, systemClock, type Timer } from './clock.js';
export type { Logger } from './logging/logger.js';

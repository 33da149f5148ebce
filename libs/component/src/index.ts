export { type Clock, systemClock, type Timer } from './clock.js';
export {
  Dialect,
  type DialectName,
  dialect,
  dialectNames,
  selectDialect,
} from './dialect/dialect.js';
export type { Logger } from './logging/logger.js';

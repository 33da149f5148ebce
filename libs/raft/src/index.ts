export * from './replicated-log.js';

/** What is particular to each kind, admission that fills in and refuses, objects of a fresh cluster. */
export * from './definition.js';
export { definitions } from './definitions.js';

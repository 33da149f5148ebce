export * from './versioned-store.js';

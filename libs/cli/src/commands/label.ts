/** `orchctl label`: sets and removes labels. */
import { configureMetadataChange } from './metadata-change.js';

export const configureLabel = configureMetadataChange('labels', 'labeled');

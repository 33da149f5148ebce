/** `orchctl annotate`: sets and removes annotations. */
import { configureMetadataChange } from './metadata-change.js';

export const configureAnnotate = configureMetadataChange('annotations', 'annotated');

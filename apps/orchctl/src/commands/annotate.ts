/** `orchctl annotate`: sets and removes annotations. */
import { configureMetadataChange } from '../lib/metadata-change.js';

export const configureAnnotate = configureMetadataChange('annotations', 'annotated');

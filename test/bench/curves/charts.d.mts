import type { Chart } from './draw.mjs';

export const charts: Readonly<Record<string, Chart>>;

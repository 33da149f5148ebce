import type { Point } from './draw.mjs';

export interface Curve {
  readonly date: string;
  readonly conditions: string;
  readonly seconds: number;
  readonly note?: string;
  readonly points: readonly Point[];
}

export function curvesPage(curves: Readonly<Record<string, Curve>>): string;

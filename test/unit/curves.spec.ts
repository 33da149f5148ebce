import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { charts } from '../bench/curves/charts.mjs';
import { drawChart } from '../bench/curves/draw.mjs';
import { type Curve, curvesPage } from '../bench/curves/page.mjs';

const docs = resolve(import.meta.dirname, '../../docs');
const read = (path: string) => readFileSync(resolve(docs, path), 'utf8');
const curves: Record<string, Curve> = JSON.parse(read('curves/points.json'));

describe('the page of curves', () => {
  it('is written from the measured points', () => {
    expect(read('curves.md')).toBe(curvesPage(curves));
  });

  it.each(Object.entries(curves))(
    'has a figure of %s with every value of its points',
    (name, curve) => {
      const chart = charts[name]!;
      expect(read(`curves/${name}.svg`)).toBe(drawChart(chart, curve.points));
      const keys = chart.panels.flatMap(({ series }) => series.map(({ key }) => key));
      for (const point of curve.points) {
        for (const key of [chart.x.key, ...keys]) expect(point[key]).toBeGreaterThanOrEqual(0);
      }
    },
  );
});

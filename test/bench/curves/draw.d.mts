export interface Chart {
  readonly title: string;
  readonly x: { readonly key: string; readonly label: string; readonly isLog?: boolean };
  readonly panels: readonly Panel[];
}

export interface Panel {
  readonly title: string;
  readonly isLog?: boolean;
  readonly series: readonly { readonly key: string; readonly name: string }[];
}

export type Point = Readonly<Record<string, number>>;

export function drawChart(chart: Chart, points: readonly Point[]): string;
export function shortNumber(value: number): string;

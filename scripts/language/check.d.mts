export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly found: string;
  readonly advice: string;
}

export function prosePaths(root: string, folders?: readonly string[]): string[];
export function findingsIn(root: string, paths: readonly string[]): Finding[];
export function findingsOf(path: string, text: string): Finding[];
export function textOf(finding: Finding): string;

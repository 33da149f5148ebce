/** The code of a documentation page: new files, and lines added to existing ones. */

export interface PageFile {
  readonly path: string;
  readonly text: string;
}

export interface PageDiff {
  /** The existing file that gets the lines. */
  readonly path: string;
  readonly lines: readonly string[];
}

/**
 * A file is a block of code below a line that consists of its path (`` `path`: ``). An addition is
 * a `diff` block of `+` lines; the last path between backquotes before it names the file.
 */
export function parsePage(page: string): { files: PageFile[]; diffs: PageDiff[] } {
  const files = [...page.matchAll(/^`([^`]+)`:\n\n```(?!diff)\w+\n(.*?)^```$/gms)].map(
    ([, path = '', text = '']): PageFile => ({ path, text }),
  );
  const diffs = [...page.matchAll(/^```diff\n(.*?)^```$/gms)].map(({ 1: block = '', index }) => ({
    path: [...page.slice(0, index).matchAll(/`([\w./-]+\.\w+)`/g)].at(-1)?.[1] ?? '',
    lines: [...block.matchAll(/^\+(.*)$/gm)].map(([, line = '']) => line),
  }));
  return { files, diffs };
}

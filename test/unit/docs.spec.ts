/** The pages: every link leads somewhere, and every page is found from the README. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join('docs', path)),
];
const texts = new Map(pages.map((page) => [page, readFileSync(join(root, page), 'utf8')]));

interface Link {
  /** Relative to the repository. */
  readonly target: string;
  readonly anchor: string | undefined;
}

/** Links to files, code aside. */
function linksOf(page: string): Link[] {
  const prose = texts
    .get(page)!
    .replace(/^```.*?^```/gms, '')
    .replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].map(
    ([, path, anchor]) => ({
      target: path === '' ? page : relative(root, resolve(root, dirname(page), path!)),
      anchor,
    }),
  );
}

/** As GitHub makes them of headings; the second of a name is `name-1`. */
function anchorsOf(text: string): Set<string> {
  const counts = new Map<string, number>();
  const anchors = new Set<string>();
  for (const [, heading] of text.replace(/^```.*?^```/gms, '').matchAll(/^#+ (.*)$/gm)) {
    const anchor = heading!
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-');
    const count = counts.get(anchor) ?? 0;
    counts.set(anchor, count + 1);
    anchors.add(count === 0 ? anchor : `${anchor}-${count}`);
  }
  return anchors;
}

it('lead to files and headings that there are', () => {
  const anchors = new Map([...texts].map(([page, text]) => [page, anchorsOf(text)]));
  const broken = pages.flatMap((page) =>
    linksOf(page)
      .filter(({ target, anchor }) => {
        if (!existsSync(join(root, target))) return true;
        return anchor !== undefined && !anchors.get(target)?.has(anchor);
      })
      .map(({ target, anchor }) => `${page}: ${target}${anchor === undefined ? '' : `#${anchor}`}`),
  );
  expect(broken).toEqual([]);
});

it('are all found from the README', () => {
  const found = new Set(['README.md']);
  for (const page of found) {
    for (const { target } of linksOf(page)) if (texts.has(target)) found.add(target);
  }
  expect(pages.filter((page) => !found.has(page))).toEqual([]);
});

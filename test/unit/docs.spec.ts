/** Documentation pages: every link has a target, and the README leads to every page. */
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
  /** The linked path, relative to the repository. */
  readonly target: string;
  readonly anchor: string | undefined;
}

/** Links to files, except those in code. */
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

/** The anchors that GitHub derives from headings; the second of a name is `name-1`. */
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

it('pages link to existing files and headings', () => {
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

it('the README links to every page, directly or by way of others', () => {
  const found = new Set(['README.md']);
  for (const page of found) {
    for (const { target } of linksOf(page)) if (texts.has(target)) found.add(target);
  }
  expect(pages.filter((page) => !found.has(page))).toEqual([]);
});

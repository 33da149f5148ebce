/** The sections of a page: one for each type on it. */
import { schemaType } from '@orch/apimachinery';
import type { Catalogue } from './catalogue.js';
import { fieldsTable, headingOf, type Source } from './fields.js';
import { fileNameOf } from './type-names.js';

export interface SectionWords {
  /** Computes the title of a section from the heading of its type. */
  readonly first?: (heading: string) => string;
  /** The title of the page, which the first section does not repeat. */
  readonly pageTitle?: string;
  /** Text below the first title. */
  readonly note?: string;
}

export function sections(path: string, source: Source, words: SectionWords = {}): string {
  const { types } = source.catalogue.pages.get(path)!;
  return types
    .map((name, index) => {
      const heading = headingOf(name, source.catalogue);
      const title = words.first?.(heading) ?? heading;
      const { description, lifecycle } = schemaType(name);
      const about = title === heading && description !== undefined ? `${description}\n\n` : '';
      const end =
        title === heading && lifecycle?.deprecated
          ? `Deprecated since ${lifecycle.deprecated}${lifecycle.removed ? `, removed in ${lifecycle.removed}` : ''}.\n\n`
          : '';
      const note = index === 0 ? (words.note ?? '') : '';
      const isTitled = index === 0 && title === words.pageTitle;
      const head = isTitled ? '' : `## ${title}\n\n`;
      return `${head}${about}${end}${note}${fieldsTable(name, path, source)}`;
    })
    .join('\n');
}

/** The title of a page: its type if there is only one, else the group. */
export function sharedTitle(path: string, catalogue: Catalogue): string {
  const head = path.replace(/^types\/|\.md$/g, '');
  const first = headingOf(catalogue.pages.get(path)!.types[0]!, catalogue);
  return fileNameOf(first) === head ? first : `Shared types of ${head}`;
}

export function sharedPage(path: string, source: Source): string {
  const pageTitle = sharedTitle(path, source.catalogue);
  return `# ${pageTitle}\n\n${sections(path, source, { pageTitle })}`;
}

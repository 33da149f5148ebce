/**
 * What plain words of YAML 1.1 are taken for, where they are read and where quotes are put: as clients do,
 * and unlike the library, numbers have digits. `.` is the key of a set of fields, `e1` a text.
 */
import type { ScalarTag, Tags } from 'yaml';

type Tag = Tags[number];

/** The form of `infinite` and of what is no number has no digits. */
function isDecimal(tag: Tag): tag is ScalarTag & { test: RegExp } {
  if (typeof tag === 'string' || !('test' in tag)) return false;
  return tag.tag === 'tag:yaml.org,2002:float' && tag.test?.test('.inf') === false;
}

/** For writing: times, too, are quoted, as readers may take them for more than texts. */
export function writtenTags(tags: Tags): Tags {
  return tags.map((tag) =>
    isDecimal(tag) ? { ...tag, test: new RegExp(`(?=[-+]?\\.?[0-9])${tag.test.source}`) } : tag,
  );
}

const unread: ReadonlySet<string> = new Set(
  ['timestamp', 'merge', 'omap', 'pairs', 'set'].map((name) => `tag:yaml.org,2002:${name}`),
);

/** For reading: times stay texts, `1:30` is no number of base 60, and there are no maps but plain ones. */
export function readTags(tags: Tags): Tags {
  return writtenTags(tags).filter(
    (tag) =>
      typeof tag === 'string' ||
      (!unread.has(tag.tag) && !('format' in tag && tag.format === 'TIME')),
  );
}

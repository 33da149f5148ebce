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

const mergeTag = 'tag:yaml.org,2002:merge';

const unread: ReadonlySet<string> = new Set(
  ['timestamp', 'omap', 'pairs', 'set'].map((name) => `tag:yaml.org,2002:${name}`),
);

/** Each merge makes new maps, deep ones too: what many of them make is not in proportion to the text. */
function boundedMerge(tag: ScalarTag, mergesMax: number): ScalarTag {
  let mergeCount = 0;
  return {
    ...tag,
    resolve: (...value) => {
      mergeCount += 1;
      if (mergeCount > mergesMax) throw new Error(`more than ${mergesMax} merge keys`);
      return tag.resolve(...value);
    },
  };
}

/**
 * How to read a document: times stay texts, `1:30` is no number of base 60, and there are no maps but plain
 * ones, into which `<<` merges others, up to `mergesMax` times.
 */
export function readOptions(mergesMax: number) {
  return {
    version: '1.1',
    // A tag that is spelt out, `!!merge` or `!!set`, means no more than a word does.
    resolveKnownTags: false,
    customTags: (tags: Tags): Tags =>
      writtenTags(tags).flatMap((tag): Tags => {
        if (typeof tag === 'string') return [tag];
        if (unread.has(tag.tag) || ('format' in tag && tag.format === 'TIME')) return [];
        return [tag.tag === mergeTag ? boundedMerge(tag as ScalarTag, mergesMax) : tag];
      }),
  } as const;
}

/** Whether a value could not be made since `<<` is to merge what is no map: the library has no type for it. */
export function isMergeFault(error: unknown): error is Error {
  return error instanceof Error && error.message === 'Merge sources must be maps or map aliases';
}

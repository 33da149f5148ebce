/**
 * Resolution of plain YAML 1.1 scalars when reading, and the quoting rules when writing, as clients
 * do it. Unlike in the library, a number needs a digit: `.` (a key of field sets) and `e1` are
 * texts.
 */
import type { ScalarTag, Tags } from 'yaml';

type Tag = Tags[number];

/** The pattern for infinity and NaN has no digits. */
function isDecimal(tag: Tag): tag is ScalarTag & { test: RegExp } {
  if (typeof tag === 'string' || !('test' in tag)) return false;
  return tag.tag === 'tag:yaml.org,2002:float' && tag.test?.test('.inf') === false;
}

/** For writing: times are quoted too, because readers may not parse them as text. */
export function yamlWriteTags(tags: Tags): Tags {
  return tags.map((tag) =>
    isDecimal(tag) ? { ...tag, test: new RegExp(`(?=[-+]?\\.?[0-9])${tag.test.source}`) } : tag,
  );
}

const mergeTag = 'tag:yaml.org,2002:merge';

const unread: ReadonlySet<string> = new Set(
  ['timestamp', 'omap', 'pairs', 'set'].map((name) => `tag:yaml.org,2002:${name}`),
);

/**
 * Each merge creates new maps, nested ones too, so that many merges create far more than the size
 * of the text.
 */
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
 * Options for reading a document: times stay text, `1:30` is not a base 60 number, and all maps are
 * plain; `<<` merges others into them, up to `mergesMax` times.
 */
export function yamlReadOptions(mergesMax: number) {
  return {
    version: '1.1',
    // An explicit tag, such as `!!merge` or `!!set`, means no more than a plain word does.
    resolveKnownTags: false,
    customTags: (tags: Tags): Tags =>
      yamlWriteTags(tags).flatMap((tag): Tags => {
        if (typeof tag === 'string') return [tag];
        if (unread.has(tag.tag) || ('format' in tag && tag.format === 'TIME')) return [];
        return [tag.tag === mergeTag ? boundedMerge(tag as ScalarTag, mergesMax) : tag];
      }),
  } as const;
}

/**
 * Reports whether `<<` was used with a value that is not a map: the library has no error type for
 * it.
 */
export function isMergeFault(error: unknown): error is Error {
  return error instanceof Error && error.message === 'Merge sources must be maps or map aliases';
}

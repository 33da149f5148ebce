/** The page of one kind: description, API, example, fields, and differences between versions. */
import { schemaType } from '@orch/apimachinery';
import { dialect } from '@orch/component';
import type { KindEntry } from './catalogue.js';
import { type Difference, differences } from './differences.js';
import { type Source, typeText } from './fields.js';
import { cell, code, link, table } from './markdown.js';
import { sections } from './sections.js';
import { typeNameOf } from './type-names.js';

const allVerbs = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

/** `example`: YAML text. */
export function kindPage(entry: KindEntry, example: string | undefined, source: Source): string {
  const { kind } = entry.definition;
  const { description } = schemaType(entry.type);
  return [
    `# ${kind}\n`,
    ...(description === undefined ? [] : [`${description}\n`]),
    facts(entry, source),
    `## Versions\n\n${versionsTable(entry)}`,
    ...(example === undefined ? [] : [`## Example\n\n\`\`\`yaml\n${example.trim()}\n\`\`\`\n`]),
    ...columns(entry),
    sections(entry.page, source, {
      first: (heading) => (heading === kind ? 'Fields' : heading),
      note: entry.definition.versions.length > 1 ? `In ${code(apiVersionOf(entry.main))}.\n\n` : '',
    }),
    ...differenceSections(entry, source),
  ].join('\n');
}

/** Versions with the same differences share a section. */
function differenceSections(entry: KindEntry, source: Source): string[] {
  const versionsByText = new Map<string, string[]>();
  for (const version of entry.definition.versions.slice(1)) {
    const found = differences(entry.type, typeNameOf(version, entry.definition.kind));
    const text = found.length === 0 ? '' : differenceTable(found, entry, source);
    versionsByText.set(text, [...(versionsByText.get(text) ?? []), apiVersionOf(version)]);
  }
  return [...versionsByText].map(([text, versions]) => {
    const names = versions.map(code).join(', ');
    if (text === '') return `The fields of ${names} are the same.\n`;
    return `## Differences of ${versions.join(', ')}\n\n${text}`;
  });
}

export function apiVersionOf({ group, version }: { group: string; version: string }): string {
  return dialect().apiVersion(group, version);
}

function facts({ definition, page, served }: KindEntry, { catalogue }: Source): string {
  const { plural, shortNames = [], categories = [], namespaced, verbs = allVerbs } = definition;
  const paths = new Map<string, string>();
  for (const { at, subresources } of served) {
    for (const { name, kind, from, verbs } of subresources) {
      const target = from && catalogue.pageOf.get(`${from.groupHead}/${from.version}.${kind}`);
      const answer = from && target ? ` as ${link(kind, page, target, kind)}` : '';
      const text = `${code(name)} (${[...verbs].join(', ')})${answer}`;
      const known = paths.get(text);
      paths.set(text, known === undefined ? at.version : `${known}, ${at.version}`);
    }
  }
  const everywhere = served.map(({ at }) => at.version).join(', ');
  const subresources = [...paths].map(([text, versions]) =>
    versions === everywhere ? text : `${text} in ${versions}`,
  );
  const collection = namespaced ? `namespaces/NAMESPACE/${plural}` : plural;
  return table(
    ['', ''],
    [
      ['Resource', [code(plural), ...shortNames.map(code)].join(', ')],
      ['Scope', namespaced ? 'a namespace' : 'the cluster'],
      ['Collection', code(`${rootOf(served[0]!.at.apiVersion)}/${collection}`)],
      [
        'Verbs',
        allVerbs.every((verb) => verbs.some((own) => own === verb)) ? 'all' : verbs.join(', '),
      ],
      ['Subresources', subresources.join('; ')],
      ['Categories', categories.map(code).join(', ')],
      ['Field selectors', selectable(definition)],
    ].filter(([, text]) => text !== '') as string[][],
  );
}

function rootOf(apiVersion: string): string {
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}

function selectable({
  namespaced,
  selectableFields,
  virtual,
  versions,
}: KindEntry['definition']): string {
  if (virtual) return '';
  const own = Object.keys(selectableFields ?? {});
  const only = versions.flatMap((version) =>
    [
      ...Object.keys(version.selectableFieldAliases ?? {}),
      ...(version.emptySelectableFields ?? []),
    ].map((name) => `${code(name)} in ${code(apiVersionOf(version))}`),
  );
  return [
    code('metadata.name'),
    ...(namespaced ? [code('metadata.namespace')] : []),
    ...own.map(code),
    ...only,
  ].join(', ');
}

function stabilityOf(version: string): string {
  if (version.includes('alpha')) return 'alpha';
  return version.includes('beta') ? 'beta' : 'stable';
}

function versionsTable({ definition }: KindEntry): string {
  const { versions, stored, virtual } = definition;
  const rows = versions.map(({ group, version, deprecation }) => [
    code(apiVersionOf({ group, version })),
    stabilityOf(version),
    !virtual && stored.group === group && stored.version === version ? 'yes' : '',
    deprecation ? `since ${deprecation.since}` : '',
    deprecation?.unavailableFrom === undefined ? '' : `in ${deprecation.unavailableFrom}`,
    deprecation?.use ? `${code(apiVersionOf(deprecation.use))} ${deprecation.use.kind}` : '',
  ]);
  return table(['version', 'stability', 'stored', 'deprecated', 'removed', 'use instead'], rows);
}

function columns({ definition }: KindEntry): string[] {
  if (definition.virtual || definition.columns.length === 0) return [];
  const rows = definition.columns.map(({ name, type, priority = 0, description }) => [
    name,
    type,
    priority > 0 ? 'wide' : '',
    cell(description),
  ]);
  return [`## Columns\n\n${table(['column', 'type', 'shown', 'meaning'], rows)}`];
}

const words: Readonly<Record<Difference['what'], string>> = {
  onlyThere: 'only in these versions',
  notThere: 'missing',
  differs: '',
};

function differenceTable(found: readonly Difference[], entry: KindEntry, source: Source): string {
  const rows = found.map(({ path, what, field, details }) => [
    code(path),
    words[what] || (details ?? []).join('; '),
    what === 'notThere' ? '' : typeText(field, entry.page, source.catalogue),
  ]);
  return table(['field', 'difference', 'type'], rows);
}

/** Splits the command line into the sections of the components. */
import { type ComponentPart, UsageError } from '@orch/component';

/** Loads a component; `name` is the first word of its section, `argv` the others. */
export type Loader = (name: string, argv: readonly string[]) => Promise<ComponentPart>;

/** The components of the sections, in their order. Throws `UsageError`. */
export async function componentSections(
  argv: readonly string[],
  loaders: Readonly<Record<string, Loader>>,
): Promise<ComponentPart[]> {
  const parts: ComponentPart[] = [];
  for (const [name = '', ...flags] of sectionsOf(argv)) {
    const load = loaders[name.replace(/-\d+$/, '')];
    if (!load) throw unknownName(name, Object.keys(loaders));
    if (parts.some((part) => part.name === name)) {
      throw new UsageError(
        `orch-components: ${name} has two sections; number them, as in ${name}-2`,
      );
    }
    parts.push(await load(name, flags));
  }
  return parts;
}

function sectionsOf(argv: readonly string[]): string[][] {
  const sections: string[][] = [[]];
  for (const word of argv) {
    if (word === '--') sections.push([]);
    else sections.at(-1)?.push(word);
  }
  return sections;
}

function unknownName(name: string, known: readonly string[]): UsageError {
  return new UsageError(
    `orch-components: a section begins with ${JSON.stringify(name)}, want one of ${known.join(', ')}; usage: orch-components NAME FLAG... [-- NAME FLAG...]`,
  );
}

/** Directions of imports between libraries and between folders, and cycles between files. */
import type { Layers, Library } from '../structure-rules.js';
import { codePaths, factsOf, isTestCode, type SourceTree, targetOf } from './source-tree.js';
import type { Violation } from './violation.js';

type Libraries = Readonly<Record<string, Library>>;
type LayersOfSources = Readonly<Record<string, Layers>>;

function libraryOf(path: string): string | undefined {
  return /^libs\/([^/]+)\//.exec(path)?.[1];
}

export function checkLibraryDirections(tree: SourceTree, libraries: Libraries): Violation[] {
  return codePaths(tree).flatMap((path) => {
    const library = libraryOf(path);
    if (library === undefined) return [];
    return factsOf(tree, path).imports.flatMap(({ name, line }): Violation[] => {
      const target = targetOf(path, name);
      if (target === undefined || target.startsWith(`libs/${library}/`)) return [];
      // The generated types of the API are erased at build; they belong to `apimachinery`.
      if (name.startsWith('@orch/types/')) return [];
      const imported = importedLibrary(name, target, isTestCode(path));
      const allowed = libraries[library]?.imports ?? [];
      if (imported === 'test' || (imported && allowed.includes(imported))) return [];
      const rule = 'library direction';
      const key = `${path} -> ${name}`;
      return [{ rule, key, line, advice: directionAdvice(library, imported, allowed) }];
    });
  });
}

/** Undefined if the path of the import is no way into another library. */
function importedLibrary(
  specifier: string,
  target: string,
  fromTestCode: boolean,
): string | undefined {
  if (specifier.startsWith('@orch/')) return libraryOf(target);
  if (!fromTestCode || !isTestCode(target)) return undefined;
  return target.startsWith('test/') ? 'test' : libraryOf(target);
}

function directionAdvice(
  library: string,
  imported: string | undefined,
  allowed: readonly string[],
): string {
  if (imported === undefined) return 'import other libraries as @orch/<name>, and never an app';
  const list = allowed.length === 0 ? 'no other library' : allowed.join(', ');
  return `${library} may import ${list}`;
}

/** `layersOf` names the layers of each source folder, such as `libs/store/src/`. */
export function checkFolderDirections(tree: SourceTree, layersOf: LayersOfSources): Violation[] {
  return codePaths(tree).flatMap((path) => {
    const source = sourceOf(path);
    const layers = source === undefined ? undefined : layersOf[source];
    if (source === undefined || layers === undefined || isTestCode(path)) return [];
    const place = entryOf(path, source);
    const rule = 'folder direction';
    if (place === undefined) return [];
    const layer = layerOf(place, layers);
    if (layer === undefined) {
      const advice = `give ${place} a place in the layers of ${source} in structure-rules.ts`;
      return [{ rule, key: path, line: 1, advice }];
    }
    return factsOf(tree, path).imports.flatMap(({ name, line }): Violation[] => {
      const target = targetOf(path, name);
      const targetPlace = target === undefined ? undefined : entryOf(target, source);
      if (targetPlace === undefined || targetPlace === place) return [];
      if ((layerOf(targetPlace, layers) ?? Infinity) > layer) return [];
      const advice = `in ${source}, ${place} may import only the layers below it in structure-rules.ts`;
      return [{ rule, key: `${path} -> ${target}`, line, advice }];
    });
  });
}

/** The source folder of a library or app. */
function sourceOf(path: string): string | undefined {
  return /^(?:libs|apps)\/[^/]+\/src\//.exec(path)?.[0];
}

/** The folder or file directly below `source` that holds `path`. */
function entryOf(path: string, source: string): string | undefined {
  return path.startsWith(source) ? path.slice(source.length).split('/')[0] : undefined;
}

/** The layer of all entries that no other layer names. */
const anyOther = '*';

function layerOf(place: string, layers: readonly string[]): number | undefined {
  const named = layers.findIndex((names) => names.split(' ').includes(place));
  const index = named < 0 ? layers.indexOf(anyOther) : named;
  return index < 0 ? undefined : index;
}

/** Entries of `layers` that no file is in. */
export function unusedLayers(tree: SourceTree, layersOf: LayersOfSources): string[] {
  return Object.entries(layersOf).flatMap(([source, layers]) => {
    const used = new Set([...tree.keys()].map((path) => entryOf(path, source)));
    return layers
      .flatMap((names) => names.split(' '))
      .filter((name) => name !== 'generated' && name !== anyOther && !used.has(name))
      .map((name) => `layers of ${source}: ${name}`);
  });
}

/** Reports each file of a cycle, with the other files of it. */
export function checkCycles(tree: SourceTree): Violation[] {
  const graph = new Map(
    codePaths(tree).map((path) => [
      path,
      factsOf(tree, path)
        .imports.filter(({ name }) => name.startsWith('.'))
        .map(({ name }) => targetOf(path, name)!)
        .filter((target) => tree.has(target)),
    ]),
  );
  return cyclesOf(graph).flatMap((cycle) =>
    cycle.map((key): Violation => {
      const others = cycle.filter((path) => path !== key).join(', ');
      return { rule: 'import cycle', key, line: 1, advice: `imports itself by way of ${others}` };
    }),
  );
}

/** The strongly connected components with more than one node, found as Tarjan does. */
function cyclesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  const visit = (node: string): void => {
    const index = order.size;
    order.set(node, index);
    lowest.set(node, index);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) visit(next);
      if (stack.includes(next)) lowest.set(node, Math.min(lowest.get(node)!, lowest.get(next)!));
    }
    if (lowest.get(node) !== index) return;
    const component = stack.splice(stack.indexOf(node));
    if (component.length > 1) cycles.push(component.sort());
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return cycles;
}

/** All structure rules over a source tree. */
import { exceptions, layersOfSources, libraries, pureCode } from '../structure-rules.js';
import {
  checkBrandIdentifiers,
  checkKindFiles,
  checkLengths,
  checkNames,
  checkPurity,
} from './code-rules.js';
import { checkCycles, checkFolderDirections, checkLibraryDirections } from './import-rules.js';
import type { SourceTree } from './source-tree.js';
import type { Violation } from './violation.js';

export function checkStructure(tree: SourceTree): Violation[] {
  return [
    ...checkLibraryDirections(tree, libraries),
    ...checkFolderDirections(tree, layersOfSources),
    ...checkCycles(tree),
    ...checkPurity(tree, pureCode),
    ...checkLengths(tree),
    ...checkNames(tree),
    ...checkBrandIdentifiers(tree),
    ...checkKindFiles(tree),
  ].filter(
    ({ rule, key }) =>
      !exceptions.some((exception) => exception.rule === rule && exception.files.test(key)),
  );
}

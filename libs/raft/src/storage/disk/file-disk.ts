/** The real disk: LevelDB databases and files in directories of the file system. */
import { claimDirectory } from './claim-directory.js';
import type { Database, DatabaseOptions, DirectoryFormat, Disk, Mark } from './disk.js';
import { LevelDatabase, openLevel } from './level-database.js';
import { openMarkFile } from './mark-file.js';
import {
  directoryBytes,
  isThere,
  recoverDirectory,
  removeDirectory,
  replaceDirectory,
} from './replace-directory.js';

export class FileDisk implements Disk {
  async openDatabase(
    directory: string,
    format: DirectoryFormat,
    options: DatabaseOptions,
  ): Promise<Database> {
    await recoverDirectory(directory);
    await claimDirectory(directory, format, options);
    return new LevelDatabase(await openLevel(directory, options), directory, options);
  }

  async exists(directory: string): Promise<boolean> {
    await recoverDirectory(directory);
    return isThere(directory);
  }

  replaceDirectory(from: string, to: string): Promise<void> {
    return replaceDirectory(from, to);
  }

  removeDirectory(directory: string): Promise<void> {
    return removeDirectory(directory);
  }

  sizeOf(directory: string): Promise<number> {
    return directoryBytes(directory);
  }

  openMark(file: string): Promise<Mark> {
    return openMarkFile(file);
  }
}

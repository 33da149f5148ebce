/**
 * Entry of `orch-components`: several components of one machine in one process, which loads their
 * common modules once. The command line has a section for each: `NAME FLAG... [-- NAME FLAG...]`,
 * where a name is that of a component, with a number if there are several of it.
 */
import { runComponents } from '@orch/component';
import { componentSections } from './component-sections.js';
import { loaders } from './loaders.js';

await runComponents('orch-components', (argv) => componentSections(argv, loaders));

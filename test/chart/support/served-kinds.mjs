#!/usr/bin/env node
/** Post-renderer of helm: omits the kinds that the host of the tests does not serve yet. */
import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';

const notServed = ['StatefulSet', 'PodDisruptionBudget', 'NetworkPolicy', 'CronJob'];
const documents = parseAllDocuments(readFileSync(0, 'utf8'));
const served = documents.filter((document) => !notServed.includes(document.get('kind')));
process.stdout.write(served.map(String).join('---\n'));

/** Schedules pods of higher priority first, then in the order of their arrival. */
import type { Plugin } from '../framework/plugin.js';

export const prioritySort: Plugin & Required<Pick<Plugin, 'queueSort'>> = {
  name: 'PrioritySort',
  queueSort: (a, b) =>
    a.info.priority > b.info.priority ||
    (a.info.priority === b.info.priority && a.arrival < b.arrival),
};

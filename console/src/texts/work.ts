import { isolated } from './shell.ts';

/** Words of the page "Operations". */
export const work = {
  title: 'Operations',
  say: 'What a tenant has the service do in the background: documents and batches.',
  tabs: { name: 'Kinds of work', operations: 'Operations', batches: 'Batches' },
  status: 'Status',
  all: 'All',
  operations: {
    columns: {
      accepted: 'Requested',
      document: 'Document',
      kind: 'Kind',
      status: 'Status',
      pages: 'Pages',
      credits: 'Credits',
      duration: 'Duration',
      problem: 'Problem',
      task: 'Task',
      id: 'ID',
    },
    none: { title: 'No operations', say: 'Send a document with “Prefer: respond-async”, or a batch.' },
    cancelled: 'The operation was cancelled. Nothing is charged for it.',
    title: (id: string) => `Cancel operation ${isolated(id)}?`,
    titleSay: 'Its hold is released and nothing is charged. This cannot be undone.',
  },
  batches: {
    columns: {
      accepted: 'Requested',
      status: 'Status',
      progress: 'Progress',
      pages: 'Pages',
      credits: 'Credits',
      duration: 'Duration',
      task: 'Task',
      id: 'ID',
    },
    none: { title: 'No batches', say: 'A batch reads up to 1,000 uploaded documents by one schema.' },
    progress: (begun: number, documents: number) => `${String(begun)} of ${String(documents)} started`,
    cancelled: 'The documents that were not begun are cancelled.',
    title: (id: string) => `Cancel batch ${isolated(id)}?`,
    titleSay: 'Documents that are being read are finished and charged; all others are not begun.',
  },
  clear: (q: string) => `Only ${isolated(q)}: show all`,
  cancel: 'Cancel',
  confirm: { operation: 'Cancel the operation', batch: 'Cancel the batch' },
  keep: 'Keep it',
  seconds: (seconds: number) =>
    seconds < 60 ? `${seconds.toFixed(1)} s` : `${String(Math.round(seconds / 60))} min`,
} as const;

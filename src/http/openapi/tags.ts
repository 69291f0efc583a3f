/** Parts of the interface, in the order in which the reference shows them. */
export const TAGS = [
  {
    name: 'Documents',
    description: 'Data and markdown from documents, and the configs that are saved for them.',
  },
  { name: 'Uploads', description: 'Files that are sent once and used by their URI.' },
  {
    name: 'Operations',
    description: 'Work on documents that is done later, alone or in batches, and what came of it.',
  },
  { name: 'Webhooks', description: 'Receivers that are told what happens, and what each was told.' },
  { name: 'Billing', description: 'Credits, prices and quotes of a tenant.' },
  { name: 'Pipelines', description: 'Training on examples, and which artifact answers.' },
  { name: 'Sessions', description: 'Signing in and out with a browser.' },
  { name: 'Administration', description: 'Keys, plans, limits, rates and prices; for admin keys.' },
  { name: 'Reports', description: 'Margin, reconciliation, usage and model costs; for admin keys.' },
  {
    name: 'Audit',
    description:
      'The event log as it is stored, balances as of any moment, audits and seals; for admin keys.',
  },
  { name: 'Service', description: 'Health, metrics and this description.' },
] as const;

/** The name of a part. */
export type Tag = (typeof TAGS)[number]['name'];

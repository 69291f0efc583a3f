import type { Finding } from './worlds.ts';

/** One kind of fault that the simulator has to find: in which small worlds, and by which rules. */
export interface Row {
  readonly row: string;
  readonly worlds: readonly string[];
  readonly rules: readonly string[];
  /** Part of the finding's text, where the rule alone does not tell. */
  readonly text?: string;
}

/**
 * What two reviewers found on the release before the queue was made one machine, and which rule tells it. That release
 * breaks each of them (docs/explanation/proof.md); this one breaks none.
 */
export const ROWS: readonly Row[] = [
  { row: 'A', worlds: ['operation', 'operation, credits spent'], rules: ['released-under-work', 'unbilled'] },
  { row: 'A (reaper)', worlds: ['operation'], rules: ['accepted-unheld'] },
  { row: 'B', worlds: ['operation'], rules: ['billed-undeliverable'] },
  { row: 'C', worlds: ['own key cancelled'], rules: ['hold-left'], text: '_full' },
  { row: 'D', worlds: ['call'], rules: ['billed-twice'], text: 'the call' },
  { row: 'E', worlds: ['operation'], rules: ['result-replaced'] },
  { row: 'E (money)', worlds: ['own key'], rules: ['released-under-success'] },
  { row: 'F', worlds: ['two files'], rules: ['wrong-file'] },
  { row: 'F (pages)', worlds: ['two files of other lengths'], rules: ['wrong-file'], text: 'pages' },
  { row: 'G', worlds: ['operation cancelled'], rules: ['usage-order'] },
  { row: 'H', worlds: ['batch'], rules: ['accepted-after-end'] },
  { row: 'H (sums)', worlds: ['batch'], rules: ['batch-sum'] },
  { row: 'I', worlds: ['operation cancelled'], rules: ['unsettled-for-ever'] },
  { row: 'I (starved)', worlds: ['many operations'], rules: ['starved'] },
  { row: 'J', worlds: ['job'], rules: ['overbilled'], text: 'job_' },
  { row: 'J (key)', worlds: ['job with own keys'], rules: ['wrong-key'] },
  { row: 'K', worlds: ['clocks'], rules: ['live-lease-taken'] },
  { row: 'K (lost)', worlds: ['clocks'], rules: ['live-work-lost'] },
  { row: 'L', worlds: ['many batches'], rules: ['limit'], text: 'batches' },
  { row: 'L (webhooks)', worlds: ['many webhooks'], rules: ['limit'], text: 'webhooks' },
  { row: 'O', worlds: ['operation cancelled', 'batch'], rules: ['audit-silent'] },
  { row: 'P', worlds: ['log put back, money'], rules: ['ack-lost'], text: 'replayed' },
  { row: 'Q', worlds: ['log put back, call'], rules: ['audit'], text: 'never requested' },
  { row: 'S', worlds: ['log put back, two processes'], rules: ['audit'], text: '[chain]' },
];

export const isFindingOf =
  ({ rules, text }: Pick<Row, 'rules' | 'text'>) =>
  (finding: Finding): boolean =>
    rules.includes(finding.id) && (text === undefined || finding.text.includes(text));

/** Words of the page "Reviews". */
export const reviews = {
  title: 'Reviews',
  say: 'Results that a person has to look at.',
  all: 'Reviews',
  none: {
    title: 'Nothing waits for you',
    say: 'Requests and configs say by `review` when a person has to look.',
  },
  status: { open: 'Open', leased: 'Taken', decided: 'Decided', expired: 'Expired' },
  columns: { document: 'Document', status: 'Status', reasons: 'Why', pages: 'Pages', opened: 'Since' },
  reasons: {
    below: 'not sure',
    missing_required: 'missing',
    rules: 'does not add up',
    sample: 'sample',
  },
  back: 'All reviews',
  document: 'Document',
  fields: 'Fields',
  keys:
    'Tab or j, k: doubtful fields · ↑ ↓: all fields · Enter: accept · n: nothing · type, or e: edit · ' +
    'click or draw on the page: take its text · + − join rows: a, d, m · Ctrl+Z: undo · Ctrl+Enter: done',
  nothing: 'nothing',
  doubtful: 'doubtful',
  accepted: 'accepted',
  left: (count: number) => (count === 0 ? 'Nothing left in doubt' : `${String(count)} in doubt`),
  done: 'Done',
  undo: 'Undo',
  reopen: 'Open again',
  row: { add: 'Add a row', remove: 'Remove this row', join: 'Join with the row before' },
  decided: 'This was decided.',
  expired: 'This is kept no more.',
  noFault: 'The document cannot be shown here.',
} as const;

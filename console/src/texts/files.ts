/** Words on the buttons that save a result. */
export const files = {
  title: 'Download',
  data: 'Data (JSON)',
  csv: 'Data (CSV)',
  xlsx: 'Data (XLSX)',
  list: (path: string) => `${path} (CSV)`,
  markdown: 'Markdown',
  text: 'Text',
  citations: 'Citations (JSON)',
  answer: 'Whole answer (JSON)',
} as const;

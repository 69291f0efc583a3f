/** Formats that the browser reads by itself, at no cost; others are shown once the service converted them. */
export type PreviewKind = 'markdown' | 'page' | 'word' | 'sheets' | 'rows' | 'mail';

const BY_ENDING: Readonly<Record<string, PreviewKind>> = {
  ...{ md: 'markdown', markdown: 'markdown', htm: 'page', html: 'page', docx: 'word', docm: 'word' },
  ...{ xlsx: 'sheets', xlsm: 'sheets', xls: 'sheets', ods: 'sheets', csv: 'rows', tsv: 'rows', eml: 'mail' },
};

const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const SHEETS = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

const BY_TYPE: Readonly<Record<string, PreviewKind>> = {
  ...{ 'text/markdown': 'markdown', 'text/html': 'page', [WORD]: 'word', [SHEETS]: 'sheets' },
  ...{ 'text/csv': 'rows', 'text/tab-separated-values': 'rows', 'message/rfc822': 'mail' },
};

/** How a file is read here; undefined: not at all. */
export const previewKind = ({ name, type }: Pick<File, 'name' | 'type'>): PreviewKind | undefined => {
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  return (Object.hasOwn(BY_ENDING, ending) ? BY_ENDING[ending] : undefined) ?? BY_TYPE[type];
};

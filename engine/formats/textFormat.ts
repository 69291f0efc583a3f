import type { Format } from './opened.ts';

type TextFormat = Extract<Format, 'rtf' | 'eml' | 'vcf' | 'ics' | 'html' | 'csv' | 'markdown' | 'text'>;

/** Of texts the name decides where it is telling; else what the text begins with. */
export function textFormat(text: string, fileName: string | null): TextFormat {
  const start = text.slice(0, 4096).trimStart();
  if (start.startsWith('{\\rtf')) return 'rtf';
  if (/^BEGIN:VCARD\s/i.test(start)) return 'vcf';
  if (/^BEGIN:VCALENDAR\s/i.test(start)) return 'ics';
  if (isMail(start, fileName)) return 'eml';
  if (isHtml(start, fileName)) return 'html';
  const name = fileName ?? '';
  if (/\.(?:md|markdown|mdown|mkd)$/i.test(name)) return 'markdown';
  if (/\.(?:csv|tsv|tab)$/i.test(name) || isTabbed(text)) return 'csv';
  return 'text';
}

const HEADER = /^[A-Za-z][A-Za-z\d-]{1,60}:[ \t]?\S?/;
const MAIL_HEADERS =
  /^(?:from|to|received|return-path|delivered-to|mime-version|message-id|subject|date)\s*:/gim;

/** A mail begins with header lines, of which at least two are known; named so, one will do. */
function isMail(start: string, fileName: string | null): boolean {
  const [head = ''] = start.split(/\n[ \t]*\n/, 1);
  const lines = head.split('\n').filter((line) => !/^[ \t]/.test(line));
  if (lines.length === 0 || !lines.every((line, i) => HEADER.test(line) || (i === 0 && /^From /.test(line))))
    return false;
  const named = /\.(?:eml|mht|mhtml)$/i.test(fileName ?? '');
  const hits = new Set(head.match(MAIL_HEADERS)?.map((hit) => hit.toLowerCase().replace(/\s/g, ''))).size;
  return hits >= (named ? 1 : 3) && /^(?:from|received|return-path|mime-version|message-id)\s*:/im.test(head);
}

const isHtml = (start: string, fileName: string | null): boolean =>
  /^(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b/i.test(start) ||
  (/\.(?:html?|xhtml)$/i.test(fileName ?? '') && /<[a-z][^>]*>/i.test(start));

const SAMPLE_CHARACTERS = 16_384;
const TABBED_LINES_MIN = 3;
const TABBED_COLUMNS_MIN = 3;

/**
 * A text is a table where tabs part each of its lines into the same columns, and each column has a name. Two
 * columns are not enough: so are labels before their values.
 */
function isTabbed(text: string): boolean {
  const sample = text.slice(0, SAMPLE_CHARACTERS).split('\n');
  const whole = text.length > SAMPLE_CHARACTERS ? sample.slice(0, -1) : sample;
  const lines = whole.filter((line) => line.trim() !== '').map((line) => line.split('\t'));
  const [header = []] = lines;
  return (
    lines.length >= TABBED_LINES_MIN &&
    header.length >= TABBED_COLUMNS_MIN &&
    header.every((name) => name.trim() !== '') &&
    lines.every((cells) => cells.length === header.length)
  );
}

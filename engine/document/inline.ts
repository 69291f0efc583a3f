import { codeSpans } from './codeSpans.ts';
import { replaceLinks } from './inlineLinks.ts';

/** Destinations that a link may have. */
const SAFE_DESTINATION = /^(?:https?:\/\/|mailto:)[^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)*$/i;

/** Whether a link may point there: http, https or mailto, without white space and angle brackets. */
export const isSafeLink = (destination: string): boolean => SAFE_DESTINATION.test(destination);

/** What would open HTML, an autolink, a comment or a declaration. */
const OPENS_HTML = /<(?=[A-Za-z/!?])/g;
const ENTITY = /&(?=#\d{1,7};|#[xX][\da-fA-F]{1,6};|[A-Za-z][A-Za-z\d]{1,31};)/g;
/** Marks that begin a block when they begin a line. */
const LINE_START = /^(\s*)(#{1,6}(?=\s|$)|>|[-+](?=\s|$)|[-=]{2,}\s*$|~~~|\|)/;
const NUMBER_START = /^(\s*\d{1,9})([.)])(?=\s|$)/;

/** Plain text as markdown that renders as the same text. Line feeds stay soft breaks. */
export function escapeText(text: string): string {
  return text
    .split('\n')
    .map((line) => escapeLineStart(escapeMarks(line)))
    .join('\n');
}

/** Inline markdown of whole lines, none of which begins a block. */
export const escapeStart = (markdown: string): string => markdown.split('\n').map(escapeLineStart).join('\n');

/** Whatever may have to be escaped inside a line has one of these. */
const MARKS = /[\\`*_~\]<&]/;

/** Plain text for a place inside a line: a heading, a cell, a link's label. */
export function escapeMarks(text: string): string {
  if (!MARKS.test(text)) return text;
  return text
    .replace(/\\(?=[!-/:-@[-`{-~])/g, '\\\\')
    .replace(/[`*]/g, '\\$&')
    .replace(/(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\_')
    .replace(/~~/g, '\\~\\~')
    .replace(/\](?=[([:])/g, '\\]')
    .replace(OPENS_HTML, '\\<')
    .replace(ENTITY, '\\&');
}

const escapeLineStart = (line: string): string =>
  line.replace(LINE_START, '$1\\$2').replace(NUMBER_START, '$1\\$2');

const AUTOLINK = /(?<!\\)<((?:https?:\/\/|mailto:)[^\s<>]*)>/gi;
const MAIL_AUTOLINK = /(?<!\\)<([\w.+-]+@[\w-]+(?:\.[\w-]+)+)>/g;
/** Footnotes `[^1]` link nowhere: their marks and texts stay. */
const OTHER_LINK = /(?<!\\)\](?=\(|\[(?!\^\d))/g;
/** A label has at most 999 characters (CommonMark). */
const DEFINITION = /^(\s{0,3})\[(?!\^\d)(?=[^\]]{0,999}\]:)/gm;

/**
 * Inline markdown from a document, made safe: links keep http, https and mailto destinations and lose
 * others (their label stays), images become their description, and `<` never opens HTML. Code spans
 * stay as they are, for nothing in them is markup.
 */
export function safeInline(markdown: string): string {
  let safe = '';
  let end = 0;
  for (const { from, to } of codeSpans(markdown)) {
    safe += safeOutsideCode(markdown.slice(end, from)) + markdown.slice(from, to);
    end = to;
  }
  return safe + safeOutsideCode(markdown.slice(end));
}

function safeOutsideCode(markdown: string): string {
  const kept: string[] = [];
  const keep = (link: string): string => `\ue000${kept.push(link) - 1}\ue001`;
  const replaced = markdown
    .replace(/[\ue000\ue001]/g, '')
    .replace(AUTOLINK, (_, url: string) => keep(linkTo(url, url)))
    .replace(MAIL_AUTOLINK, (_, mail: string) => keep(linkTo(mail, `mailto:${mail}`)));
  const linked = replaceLinks(replaced, ({ isImage, label, destination }) =>
    !isImage && isSafeLink(destination) ? keep(`[${plainLabel(label)}](${destination})`) : label,
  );
  return linked
    .replace(DEFINITION, '$1\\[')
    .replace(OTHER_LINK, '\\]')
    .replace(/(?<!\\)<(?=[A-Za-z/!?])/g, '\\<')
    .replace(/\ue000(\d+)\ue001/g, (_, index: string) => kept[Number(index)] ?? '');
}

const linkTo = (label: string, destination: string): string =>
  isSafeLink(destination) ? `[${escapeMarks(label)}](${destination})` : escapeMarks(label);

const plainLabel = (label: string): string => label.replace(/(?<!\\)<(?=[A-Za-z/!?])/g, '\\<');

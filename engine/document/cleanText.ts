/** Control characters that no rendering may carry (tab and line feed stay), and lone surrogates. */
const CONTROLS = /[\u0000-\u0008\u000b\u000e-\u001f\u007f-\u009f\ufeff\ufffe\uffff]/g;
const LONE_SURROGATES = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Nothing in it can need cleaning: most texts are told by that. */
const PLAIN = /^[\t\n\x20-\x7e]*$/;

/** NFC, line feeds only, nothing that cannot be seen or stored as UTF-8. */
export function cleanText(text: string): string {
  if (PLAIN.test(text)) return text;
  return text
    .replace(/\r\n?|\u2028|\u2029|\u0085/g, '\n')
    .replace(/\f/g, '\n')
    .replace(CONTROLS, '')
    .replace(LONE_SURROGATES, '\ufffd')
    .normalize('NFC');
}

/** One line: every run of white space is one space. */
export const oneLine = (text: string): string => cleanText(text).replace(/\s+/g, ' ').trim();

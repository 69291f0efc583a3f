import type { ParsedPage, TextItem } from '../../recognition/liteparse.ts';
import { symbolSign } from '../office/symbols.ts';

const TICKED = /[☑☒]/u;
const EMPTY = /[☐□❑]/u;

/** The check box that a text in a font of symbols is; undefined of all other texts. */
function boxIn({ fontName = '', charCodes = [] }: TextItem, text: string): string | undefined {
  if (text.length !== 1 || !/wingdings/i.test(fontName)) return undefined;
  const own = charCodes.filter((code) => code > 0);
  const sign = symbolSign('wingdings', own.length === 1 ? (own[0] ?? 0) : text.charCodeAt(0));
  if (TICKED.test(sign)) return '☒';
  return EMPTY.test(sign) ? '☐' : undefined;
}

/**
 * The check boxes of a page that a font of symbols draws, by their letters. Where none is ticked, they may be the
 * marks of a list and stay as they are.
 */
export function boxSigns({ textItems }: ParsedPage): ((item: TextItem, text: string) => string) | undefined {
  const isForm = textItems.some((item) => boxIn(item, item.text.split(/\s/, 1)[0] ?? '') === '☒');
  return isForm ? (item, text) => boxIn(item, text) ?? text : undefined;
}

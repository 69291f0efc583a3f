import type { Code } from '../document/codes.ts';
import type { Document, DocumentWarning } from '../document/document.ts';
import { asksPayment } from '../extraction/facts/codeFacts.ts';
import { parsedCode } from '../extraction/facts/parsedCode.ts';
import { fieldsOf } from '../extraction/extract.ts';
import { schemaTree } from '../extraction/fields/fields.ts';
import { codesOfFile } from '../formats/codes/pageCodes.ts';
import { zonesOn } from '../formats/codes/mrz.ts';
import type { ReceivedFile } from '../formats/pieces/received.ts';
import type { JsonObject } from '../kernel/json.ts';

const withParts = (code: Code): Code => ({ ...code, parsed: code.parsed ?? parsedCode(code.text) });

const notRead = (pages: readonly number[]): readonly DocumentWarning[] =>
  pages.length === 0
    ? []
    : [
        {
          code: 'codes_not_read',
          message: `No codes were looked for on page ${pages.join(', ')}.`,
          pages,
        },
      ];

/** A document with the codes on its pages, and a warning of the pages that were not looked at. */
export async function withCodes(
  file: ReceivedFile,
  document: Document,
  isLate: () => boolean,
): Promise<Document> {
  const { codes, left } = await codesOfFile(file, document, isLate);
  return { ...document, codes: codes.map(withParts), warnings: [...document.warnings, ...notRead(left)] };
}

/** A document whose codes are asked for, but whose file is not at hand: the zones for machines are its text. */
export function withoutPictures(document: Document): Document {
  if (document.codes !== undefined) return document;
  const pages = document.pages.map(({ page }) => page);
  return {
    ...document,
    codes: document.pages.flatMap(zonesOn),
    warnings: [...document.warnings, ...notRead(pages)],
  };
}

/** A document whose file is not at hand, with the zones for machines in its text; one with codes keeps them. */
export function withZones(document: Document): Document {
  const { codes, pages } = document;
  const zones = codes === undefined ? pages.flatMap(zonesOn) : [];
  return zones.length === 0 ? document : { ...document, codes: zones };
}

/** Payment codes stand at the beginning of a document or at its end. */
const LOOKED_AT_EACH_END = 4;

/** A document with the codes that a schema asks for; pictures of pages are looked through for payments alone. */
export async function withAskedCodes(
  { file, schema }: { readonly file: ReceivedFile; readonly schema: JsonObject },
  document: Document,
  isLate: () => boolean,
): Promise<Document> {
  const tree = schemaTree(schema);
  if (file.effort === 'fast' || tree === undefined || !asksPayment(fieldsOf(tree)))
    return withZones(document);
  const { pages } = document;
  const looked = pages.filter((_, at) => at < LOOKED_AT_EACH_END || at >= pages.length - LOOKED_AT_EACH_END);
  const { codes, left } = await codesOfFile(file, { ...document, pages: looked }, isLate);
  const others = pages.filter((page) => !looked.includes(page)).flatMap(zonesOn);
  return {
    ...document,
    codes: [...codes.map(withParts), ...others],
    warnings: [...document.warnings, ...notRead(left)],
  };
}

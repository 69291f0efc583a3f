/** What stands between a document's text and what a model is told to do. */
const TAG = 'document_text';

const FORGED = /<\s*(\/?)\s*document_text/giu;

/**
 * A document's text as data: whatever it says, it cannot close the fence, for tags of the fence inside of
 * it are spelled otherwise.
 */
export const fenced = (text: string): string =>
  `<${TAG}>\n${text.replaceAll(FORGED, '<$1document-text')}\n</${TAG}>`;

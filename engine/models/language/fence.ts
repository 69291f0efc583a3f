/** What stands between a document's text and what a model is told to do. */
const TAG = 'document_text';
const FORGED = 'document-text';

const isBlank = (text: string, at: number): boolean => text.charAt(at).trim() === '';

/** The index after the last character before `end` that is no blank. */
function withoutBlanks(text: string, end: number): number {
  let at = end;
  while (at > 0 && isBlank(text, at - 1)) at -= 1;
  return at;
}

/** Whether a tag stands before the name at `start`: `<`, maybe a `/`, and blanks between them. */
function opensTag(text: string, start: number): boolean {
  const before = withoutBlanks(text, start);
  const atSlash = text.charAt(before - 1) === '/';
  const end = atSlash ? withoutBlanks(text, before - 1) : before;
  return text.charAt(end - 1) === '<';
}

/**
 * A document's text as data: whatever it says, it cannot close the fence, for tags of the fence inside of
 * it are spelled otherwise. Linear: each blank is looked at by the one name that follows it.
 */
export const fenced = (text: string): string => {
  const safe = text.replaceAll(/document_text/giu, (name, at: number) =>
    opensTag(text, at) ? FORGED : name,
  );
  return `<${TAG}>\n${safe}\n</${TAG}>`;
};

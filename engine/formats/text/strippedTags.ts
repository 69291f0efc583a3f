/** From where on something is cut out; undefined: it has no end. */
type EndOf = (text: string, from: number) => number | undefined;

/**
 * The text without what begins with `opening` and ends where `endOf` says. What has no end stays, and is not
 * looked for again: so the time is linear however often it begins.
 */
function without(text: string, opening: RegExp, { endOf, left }: Cut): string {
  let [kept, from] = ['', 0];
  const open = new RegExp(opening, 'gi');
  for (let found = open.exec(text); found !== null; found = open.exec(text)) {
    const end = endOf(text, open.lastIndex);
    if (end === undefined) break;
    kept += text.slice(from, found.index) + left(text.slice(found.index, end));
    from = end;
    open.lastIndex = end;
  }
  return kept + text.slice(from);
}

interface Cut {
  readonly endOf: EndOf;
  /** What stands in the place of what was cut. */
  readonly left: (cut: string) => string;
}

const endOfComment: EndOf = (text, from) => {
  const at = text.indexOf('-->', from);
  return at < 0 ? undefined : at + 3;
};

const endOfElement =
  (name: string): EndOf =>
  (text, from) => {
    const close = new RegExp(`</${name}\\s*>`, 'gi');
    close.lastIndex = from;
    return close.exec(text) === null ? undefined : close.lastIndex;
  };

const nothing = (): string => '';
const lineFeeds = (cut: string): string => cut.replace(/[^\n]/g, '');

/** Comments, scripts, styles and tags go, line break tags become a space; text stays. */
export function strippedTags(text: string): string {
  let stripped = without(text, /<!--/, { endOf: endOfComment, left: lineFeeds });
  for (const name of ['script', 'style'])
    stripped = without(stripped, new RegExp(`<${name}\\b[^<>]*>`), {
      endOf: endOfElement(name),
      left: nothing,
    });
  return stripped.replace(/<br\s*\/?>/gi, ' ').replace(/<\/?[a-z][a-z\d-]*(?:\s[^<>]*)?\/?>/gi, '');
}

/** Joins the classes that are there. */
export const classes = (...given: readonly (string | false | undefined)[]): string =>
  given.filter((part) => part !== false && part !== undefined && part !== '').join(' ');

/** The nonce that the page's policy lets style tags carry. */
export const styleNonce = (): string | undefined => {
  const tag = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]');
  return tag === null || tag.nonce === '' ? undefined : tag.nonce;
};

/** How everything looks that one types into or chooses by. It is as wide as its place, where nothing else is said. */
export const CONTROL =
  'h-8 [:where(&)]:w-full min-w-0 rounded-md border border-line bg-surface px-2 text-ink placeholder:text-soft ' +
  'aria-invalid:border-bad disabled:opacity-50';

/** The longest time between two clicks that are one double click, as systems have it at most. */
export const DOUBLE_CLICK_MS = 900;

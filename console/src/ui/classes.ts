/** Joins the classes that are there. */
export const classes = (...given: readonly (string | false | undefined)[]): string =>
  given.filter((part) => part !== false && part !== undefined && part !== '').join(' ');

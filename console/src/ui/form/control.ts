/** How everything looks that one types into or chooses by. */
export const CONTROL =
  'h-8 w-full min-w-0 rounded-md border border-line bg-surface px-2 text-ink placeholder:text-soft ' +
  'aria-invalid:border-bad disabled:opacity-50';

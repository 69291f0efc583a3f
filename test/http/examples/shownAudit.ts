import type { Example } from '../../../src/server/openapi.ts';

type Json = Readonly<Record<string, unknown>>;

const EVENTS = 1024;

/** Counts depend on how often a worker told how far it was, so an example shows others. */
const counted = ({ report, ...item }: Json): Json => {
  const shown = { ...item, events: EVENTS, end_position: String(EVENTS) };
  if (report === undefined) return shown;
  const { checks, facts, ...rest } = report as { readonly checks: readonly Json[]; readonly facts: Json };
  return {
    ...shown,
    report: {
      checks: checks.slice(0, 2).map((check) => ({ ...check, checked: EVENTS })),
      ...rest,
      facts: { ...facts, events: EVENTS, streams: 97, tenants: 1 },
    },
  };
};

const withShown = (example: Example | undefined, shown: (item: Json) => Json): Example => {
  if (example === undefined) throw new Error('the walk did not call it');
  const answer = example.answer as Json;
  const { items } = answer as { readonly items?: readonly Json[] };
  return { ...example, answer: items === undefined ? shown(answer) : { ...answer, items: items.map(shown) } };
};

/** An example with an audit, or a list of them, in its answer. */
export const shownAudit = (example: Example | undefined): Example => withShown(example, counted);

/** An example with a seal, or a list of them, in its answer. */
export const shownSeal = (example: Example | undefined): Example =>
  withShown(example, (seal) => ({ ...seal, events: EVENTS }));

import type { Command } from 'commander';
import { z } from 'zod';
import type { ReadModelStatus } from '../operator/log.ts';
import type { RebuildInput } from '../operator/operations.ts';
import { answersOf, type AsJson, ask, command, json, type Output, progressShown, table } from './terminal.ts';

const progress = z.object({
  eventsDone: z.number(),
  eventsPerSecond: z.number(),
  secondsLeft: z.number().nullable(),
  share: z.number(),
});

const position = z
  .union([z.string(), z.bigint()])
  .nullable()
  .transform((value) => value?.toString() ?? null);
const count = z.union([z.string(), z.bigint()]).transform(String);

const rebuilt = z.object({
  name: z.string(),
  version: z.number(),
  position,
  compared: z.boolean(),
  resumedFrom: position,
  differences: z.array(
    z.object({ table: z.string(), column: z.string().optional(), before: count, after: count }),
  ),
});
type Rebuilt = z.output<typeof rebuilt>;

const rebuildItem = z.union([
  z.object({ progress }),
  z.object({ rebuilt }),
  z.object({ withdrawn: z.string() }),
]);

const nextText = ({ next }: ReadModelStatus): string =>
  next === null ? '-' : `v${String(next.version)} ${next.state} at ${next.position ?? 'start'}`;

/** The status as a table. */
const statusText = (statuses: readonly ReadModelStatus[]): string =>
  table(
    ['READ MODEL', 'VERSION', 'STATE', 'POSITION', 'LAG', 'NEXT', 'REASON'],
    statuses.map((one) => [
      one.name,
      `v${String(one.version)}`,
      one.state,
      one.position ?? '-',
      one.lag_events === null ? 'many' : String(one.lag_events),
      nextText(one),
      one.reason ?? '',
    ]),
  );

const status = async (output: Output, options: AsJson): Promise<void> => {
  const statuses = await answersOf<ReadModelStatus>(output, { name: 'projections.status', input: {} });
  if (options.json === true) return output.out(json(statuses));
  if (statuses.length === 0) output.note('There are no read models yet: start the service once.\n');
  else await output.out(statusText(statuses));
};

/** The findings of a rebuild in one read model, in a line or a few. */
const rebuiltText = (one: Rebuilt): string => {
  const from = one.resumedFrom === null ? '' : ` (continued from ${one.resumedFrom})`;
  const verdict = one.compared
    ? one.differences.length === 0
      ? 'the same counts and sums as before'
      : 'the old rows were wrong, the new ones serve now:'
    : 'not comparable with the old rows, which were of another version or position';
  const lines = one.differences.map(
    ({ table: name, column, before, after }) =>
      `    ${name}, ${column === undefined ? 'rows' : `sum of ${column}`}: ${before} before, ${after} now\n`,
  );
  return (
    `${one.name} v${String(one.version)}: rebuilt at ${one.position ?? 'an empty log'}${from}` +
    `, ${verdict}\n${lines.join('')}`
  );
};

const STOPPED = {
  kept: 'Stopped. The part that was built is kept; run the command again to continue.\n',
  undone: 'Stopped. Everything is as it was.\n',
};

interface RebuildOptions extends AsJson {
  readonly fresh?: boolean;
  readonly keep?: boolean;
}

const rebuild = async (
  output: Output,
  names: string[],
  { fresh = false, keep = false, json: asJson = false }: RebuildOptions,
): Promise<void> => {
  const shown = progressShown(output);
  const done: Rebuilt[] = [];
  const send = async (item: unknown): Promise<void> => {
    const told = rebuildItem.parse(item);
    if ('progress' in told) {
      shown.show(told.progress);
      return;
    }
    shown.end();
    if ('withdrawn' in told) {
      output.note(`${told.withdrawn}: removed; a newer release that knows it builds it again\n`);
      return;
    }
    done.push(told.rebuilt);
    if (!asJson) await output.out(rebuiltText(told.rebuilt));
  };
  const input: RebuildInput = { names, fresh, keep };
  try {
    await ask(output, { name: 'projections.rebuild', input }, send);
  } finally {
    shown.end();
    if (output.signal.aborted) output.note(keep ? STOPPED.kept : STOPPED.undone);
  }
  if (asJson) await output.out(json(done));
};

/** `quire projections …`. */
export const addProjections = (program: Command): void => {
  const group = program
    .command('projections')
    .description('show the read models, or rebuild them from the event log');
  group
    .command('status')
    .description('name, version, state, position and lag of each read model')
    .option('--json', 'print JSON')
    .action(command(status));
  group
    .command('rebuild')
    .argument('[name...]', 'read models; all when none is named')
    .description('rebuild read models beside those in use, verify them, and switch to them')
    .option('--fresh', 'start again, even if an interrupted rebuild could continue')
    .option('--keep', 'after Ctrl-C keep the part that was built, to continue later')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nThe service goes on serving. A rebuild that was interrupted is continued by the ' +
        'next.\nUse --fresh after the code of a read model has changed.',
    )
    .action(command(rebuild));
};

import { setTimeout as pause } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import { STILL_MAX_SECONDS } from '../../projections/engine/lag.ts';
import { SHARES_MAX } from '../../projections/engine/registry.ts';
import { READ_MODELS } from '../../projections/readModels.ts';
import { OperatorError } from '../clientConfig.ts';
import { configFrom } from '../config.ts';
import type { ReadModelStatus } from '../operator/log.ts';
import type { RebuildInput } from '../operator/operations.ts';
import {
  answerOf,
  answersOf,
  type AsJson,
  ask,
  command,
  json,
  type Output,
  progressShown,
  table,
} from './terminal.ts';

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
  z.object({ begunAnew: z.object({ names: z.array(z.string()), reason: z.string() }) }),
  z.object({ rebuilt }),
  z.object({ withdrawn: z.string() }),
  z.object({ refolded: z.object({ name: z.string(), tenant_id: z.string(), position }) }),
]);

type RefoldedItem = Extract<z.output<typeof rebuildItem>, { refolded: unknown }>['refolded'];

const nextText = ({ next }: ReadModelStatus): string =>
  next === null ? '-' : `v${String(next.version)} ${next.state} at ${next.position ?? 'start'}`;

const lateText = ({ lag_seconds, still_seconds }: ReadModelStatus): string => {
  const late = `${String(Math.round(lag_seconds))} s`;
  return still_seconds >= STILL_MAX_SECONDS ? `${late}, stands still` : late;
};

/** The status as a table. */
const statusText = (statuses: readonly ReadModelStatus[]): string =>
  table(
    ['READ MODEL', 'VERSION', 'STATE', 'POSITION', 'LAG', 'LATE', 'NEXT', 'REASON'],
    statuses.map((one) => [
      one.name,
      `v${String(one.version)}`,
      one.state,
      one.position ?? '-',
      one.lag_events === null ? 'many' : String(one.lag_events),
      lateText(one),
      nextText(one),
      one.reason ?? '',
    ]),
  );

/** Who is parked where; nothing if nobody is. */
const parkedTable = (statuses: readonly ReadModelStatus[]): string => {
  const rows = statuses.flatMap(({ name, parked }) =>
    parked.map((one) => [
      one.tenant_id,
      name,
      one.position,
      one.retrying ? 'retrying' : 'parked',
      one.reason,
    ]),
  );
  return rows.length === 0 ? '' : `\n${table(['TENANT', 'READ MODEL', 'POSITION', 'STATE', 'REASON'], rows)}`;
};

const status = async (output: Output, options: AsJson): Promise<void> => {
  const statuses = await answersOf<ReadModelStatus>(output, { name: 'projections.status', input: {} });
  if (options.json === true) return output.out(json(statuses));
  if (statuses.length === 0) output.note('There are no read models yet: start the service once.\n');
  else await output.out(`${statusText(statuses)}${parkedTable(statuses)}`);
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
  readonly tenant?: string;
  readonly shares?: number;
}

const sharesIn = (text: string): number => {
  const shares = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (shares < 1 || shares > SHARES_MAX)
    throw new InvalidArgumentError(`Give a whole number from 1 to ${String(SHARES_MAX)}.`);
  return shares;
};

const rebuild = async (
  output: Output,
  names: string[],
  { fresh = false, keep = false, json: asJson = false, tenant, shares }: RebuildOptions,
): Promise<void> => {
  const shown = progressShown(output);
  const done: (Rebuilt | RefoldedItem)[] = [];
  const send = async (item: unknown): Promise<void> => {
    const told = rebuildItem.parse(item);
    if ('progress' in told) {
      shown.show(told.progress);
      return;
    }
    shown.end();
    if ('begunAnew' in told) {
      const { names: of, reason } = told.begunAnew;
      output.note(`begins anew: ${reason} (${of.join(', ')})\n`);
      return;
    }
    if ('withdrawn' in told) {
      output.note(`${told.withdrawn}: removed; a newer release that knows it builds it again\n`);
      return;
    }
    if ('refolded' in told) {
      done.push(told.refolded);
      const { name, tenant_id, position: at } = told.refolded;
      if (!asJson) await output.out(`${name}: rows of ${tenant_id} made anew at ${at ?? 'an empty log'}\n`);
      return;
    }
    done.push(told.rebuilt);
    if (!asJson) await output.out(rebuiltText(told.rebuilt));
  };
  const input: RebuildInput = {
    names,
    fresh,
    keep,
    ...(tenant !== undefined && { tenant }),
    ...(shares !== undefined && { shares }),
  };
  try {
    await ask(output, { name: 'projections.rebuild', input }, send);
  } finally {
    shown.end();
    if (output.signal.aborted) output.note(keep ? STOPPED.kept : STOPPED.undone);
  }
  if (asJson) await output.out(json(done));
};

const changing =
  (operation: 'pause' | 'resume') =>
  async (output: Output, name: string): Promise<void> => {
    const asked = { name: `projections.${operation}`, input: { name } };
    const { changed } = await answerOf<{ readonly changed: boolean }>(output, asked);
    const state = operation === 'pause' ? 'is paused' : 'goes on';
    output.note(changed ? `${name} ${state}.\n` : `${name} was so before: nothing changed.\n`);
  };

const retry = async (
  output: Output,
  names: string[],
  { tenant }: { readonly tenant?: string },
): Promise<void> => {
  const input = { names, ...(tenant !== undefined && { tenant }) };
  const asked = await answersOf<{ readonly name: string; readonly retrying: number }>(output, {
    name: 'projections.retry',
    input,
  });
  if (asked.length === 0) output.note('Nobody is parked there: nothing to do.\n');
  for (const { name, retrying } of asked)
    await output.out(
      `${name}: ${String(retrying)} tried again; \`quire projections status\` shows how it ends\n`,
    );
};

/** A read model that is later than this is not yet caught up, seconds. */
const LATE_SECONDS = 60;
const LOOK_EVERY_MS = 500;

type Wanted = Pick<ReadModelStatus, 'name' | 'version'>;

/** Why a read model will not serve in the wanted version by waiting; undefined: it may, or does. */
const hopeless = (one: ReadModelStatus, { version }: Wanted): string | undefined => {
  if (one.version > version) return 'a newer release serves it';
  const state = one.next?.state === 'stopped' ? 'stopped' : one.state;
  return state === 'stopped' || state === 'diverged' ? `${state}: ${one.reason ?? 'no reason'}` : undefined;
};

const isServed = (one: ReadModelStatus | undefined, { version }: Wanted): boolean =>
  one?.version === version && one.next === null && (one.is_paused || one.lag_seconds < LATE_SECONDS);

/** Read models that do not serve yet in their version. Throws OperatorError when one never will. */
export const notServed = (
  statuses: readonly ReadModelStatus[],
  wanted: readonly Wanted[],
): readonly string[] => {
  const statusOf = ({ name }: Wanted) => statuses.find((one) => one.name === name);
  for (const model of wanted) {
    const one = statusOf(model);
    const why = one === undefined ? undefined : hopeless(one, model);
    if (why !== undefined)
      throw new OperatorError(`${model.name} will not serve in version ${String(model.version)}: ${why}.`);
  }
  return wanted.filter((model) => !isServed(statusOf(model), model)).map(({ name }) => name);
};

/** Runs a projector of this release until its read models serve, beside whatever else runs. */
const migrate = async (output: Output): Promise<void> => {
  const { startQuire } = await import('../service/quire.ts');
  const { openParts } = await import('../parts/parts.ts');
  const config = { ...configFrom(), roles: ['projector'] as const, port: 0, host: '127.0.0.1' };
  const quire = await startQuire(config, openParts, output.signal);
  const asked = { name: 'projections.status', input: {} };
  try {
    let told = '';
    for (;;) {
      const open = notServed(await answersOf<ReadModelStatus>(output, asked), READ_MODELS).join(', ');
      if (open === '') break;
      if (open !== told) output.note(`waiting for ${open}\n`);
      told = open;
      await pause(LOOK_EVERY_MS, undefined, { signal: output.signal });
    }
  } finally {
    await quire.stop();
  }
  output.note('All read models serve in the version of this release.\n');
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
    .option('--tenant <id>', 'only the rows of one tenant; those of others stay in use')
    .option('--shares <n>', 'on PostgreSQL: as many threads, each for a share of the tenants', sharesIn)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nThe service goes on serving. A rebuild that was interrupted is continued by the ' +
        'next.\nUse --fresh after the code of a read model has changed.',
    )
    .action(command(rebuild));
  group
    .command('migrate')
    .description('build what this release has in a new version, and end once all of it serves')
    .addHelpText(
      'after',
      '\nRuns beside the processes of the release before, which go on meanwhile: start the others of this release ' +
        '\nafterwards. With embedded parts nothing else may run, and a start does the same.',
    )
    .action(command(migrate));
  group
    .command('retry')
    .argument('[name...]', 'read models; all when none is named')
    .description('try tenants again that were parked at an event that could not be applied')
    .option('--tenant <id>', 'only this tenant')
    .action(command(retry));
  group
    .command('pause')
    .argument('<name>', 'a read model')
    .description('keep a read model where it is, through restarts, until it is resumed')
    .action(command(changing('pause')));
  group
    .command('resume')
    .argument('<name>', 'a read model')
    .description('let a paused read model go on')
    .action(command(changing('resume')));
};
